import Groundwork
import HTTPClient

/// The events of a stream of the daemon, received at the reader's pace.
///
/// Ends when the daemon ends the stream, or in a canceled task.
public struct LocalEvents: AsyncSequence, Sendable {
    public typealias Element = LocalEvent
    public typealias Failure = LocalAPIError

    let client: LocalClient
    let path: String
    let body: JSON?

    /// Connects when the first event is requested.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let client: LocalClient
        private let path: String
        private let body: JSON?
        private var source: HTTPStream.AsyncIterator?
        private var lines = LineSplitter()
        private var waiting: ArraySlice<[UInt8]> = []

        fileprivate init(_ events: LocalEvents) { (client, path, body) = (events.client, events.path, events.body) }

        /// - Throws: ``LocalAPIError``; ``LocalAPIError/remote(status:_:)`` also if the daemon breaks off the stream.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(LocalAPIError) -> LocalEvent? {
            do {
                if source == nil { source = try await client.open(path, body).makeAsyncIterator() }
                while true {
                    if let line = waiting.popFirst() {
                        guard !line.isEmpty else { continue }
                        return try event(line)
                    }
                    guard let piece = try await piece() else { return nil }
                    waiting = try lines.add(piece)[...]
                }
            } catch .cancelled {
                return nil
            }
        }

        private mutating func piece(isolation actor: isolated (any Actor)? = #isolation) async throws(LocalAPIError)
            -> [UInt8]?
        {
            do {
                return try await source?.next(isolation: actor)
            } catch {
                throw client.explained(error)
            }
        }

        private func event(_ line: [UInt8]) throws(LocalAPIError) -> LocalEvent {
            guard let json = try? JSON(parsing: line, limit: LineSplitter.limit), let name = json["event"]?.string,
                let data = json["data"]
            else { throw .noAnswer(reason: "the event stream contains something other than events") }
            if name == LocalEvent.errorName { throw LocalAPIError(status: 200, answer: data) }
            return LocalEvent(name: name, id: json["id"]?.string, data: data)
        }
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }
}
