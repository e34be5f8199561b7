import Groundwork

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
        private let records: LocalRecords
        private var waiting: ArraySlice<ArraySlice<UInt8>> = []

        fileprivate init(_ records: LocalRecords) { self.records = records }

        /// - Throws: ``LocalAPIError``; ``LocalAPIError/remote(status:_:)`` also if the daemon breaks off the stream.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(LocalAPIError) -> LocalEvent? {
            while true {
                if let line = waiting.popFirst() {
                    guard !line.isEmpty else { continue }
                    return try LocalRecord(line, in: .lines).event()
                }
                guard let batch = try await records.next(isolation: actor) else { return nil }
                waiting = batch[...]
            }
        }
    }

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(LocalRecords(client, path, posting: body, as: .lines))
    }
}
