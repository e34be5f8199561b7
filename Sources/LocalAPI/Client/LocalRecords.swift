import Glibc
import Groundwork
import HTTPClient

/// What the daemon writes to a stream.
public enum LocalRecord: Sendable {
    /// A message with unparsed JSON: in frames its bytes, in NDJSON the JSON text of its data.
    case message(ArraySlice<UInt8>)
    case event(LocalEvent)
}

/// The records of a stream of the daemon, in the batches in which they arrive, at the reader's pace. For one task.
///
/// Ends when the daemon ends the stream, or in a canceled task.
public final class LocalRecords {
    private let client: LocalClient
    private let path: String
    private let body: JSON?
    private let form: StreamForm
    private var source: HTTPStream.AsyncIterator?
    private let isDirect: Bool
    private var direct: DirectStream?
    private var lines = LineSplitter()
    private var frames = FrameSplitter()

    /// Connects when the first batch is requested, or with ``open(isolation:)``.
    ///
    /// - Parameter isDirect: whether the thread that asks for it reads and waits (``DirectStream``).
    init(
        _ client: LocalClient, _ path: String, posting body: JSON? = nil, as form: StreamForm, isDirect: Bool = false
    ) {
        (self.client, self.path, self.body, self.form, self.isDirect) = (client, path, body, form, isDirect)
    }

    /// Connects, unless it has: once this returns, no event is missed.
    ///
    /// - Throws: ``LocalAPIError``
    public func open(isolation actor: isolated (any Actor)? = #isolation) async throws(LocalAPIError) {
        if isDirect {
            if direct == nil { direct = try client.openDirectly(path, form) }
        } else if source == nil {
            source = try await client.open(path, body, form).makeAsyncIterator()
        }
    }

    /// The next records, whole and as they came, for ``LocalRecord/init(_:in:)``.
    ///
    /// - Returns: `nil` at the end.
    /// - Throws: ``LocalAPIError``
    public func next(
        isolation actor: isolated (any Actor)? = #isolation
    ) async throws(LocalAPIError) -> [ArraySlice<UInt8>]? {
        let piece: [UInt8]?
        do throws(LocalAPIError) {
            try await open(isolation: actor)
            do throws(HTTPError) {
                piece = if let direct { try direct.next() } else { try await source?.next(isolation: actor) }
            } catch {
                throw client.explained(error)
            }
        } catch {
            if case .cancelled = error { return nil }
            throw error
        }
        guard let piece else { return nil }
        return try form == .frames ? frames.add(piece) : lines.add(piece)
    }
}

extension LocalRecord {
    private static let start = #"{"data":"#
    /// At the end of a JSON object these can only be a member of the object itself and its own brace.
    private static let end = #","event":"message"}"#

    /// - Parameter bytes: a line of NDJSON, or a frame.
    /// - Throws: ``LocalAPIError/remote(status:_:)`` for the error with which the daemon breaks off a stream,
    ///   ``LocalAPIError/noAnswer(reason:)`` for anything that is not a record.
    public init(_ bytes: ArraySlice<UInt8>, in form: StreamForm) throws(LocalAPIError) {
        let (start, end) = (Self.start.utf8.count, bytes.count - Self.end.utf8.count)
        if form == .frames, bytes.first == StreamForm.messageKind {
            self = .message(bytes.dropFirst(StreamForm.frameHead))
        } else if form == .frames {
            guard bytes.first == StreamForm.eventKind else { throw LocalEvent.malformed }
            self = .event(try LocalEvent(parsing: bytes.dropFirst(StreamForm.frameHead)))
        } else if end > start, bytes.withUnsafeBytes({ Self.isMessage($0, end) }) {
            self = .message(bytes.dropFirst(start).prefix(end - start))
        } else {
            self = .event(try LocalEvent(parsing: bytes))
        }
    }

    private static func isMessage(_ line: UnsafeRawBufferPointer, _ end: Int) -> Bool {
        guard let bytes = line.baseAddress else { return false }
        return memcmp(bytes, Self.start, Self.start.utf8.count) == 0
            && memcmp(bytes + end, Self.end, Self.end.utf8.count) == 0
    }

    /// The event that a record of NDJSON is.
    ///
    /// - Throws: ``LocalAPIError/noAnswer(reason:)``
    public func event() throws(LocalAPIError) -> LocalEvent {
        switch self {
        case .event(let event): return event
        case .message(let data):
            guard let data = try? JSON(parsing: data, limit: LineSplitter.limit) else { throw LocalEvent.malformed }
            return LocalEvent(name: "message", data: data)
        }
    }
}

extension LocalEvent {
    fileprivate static var malformed: LocalAPIError {
        .noAnswer(reason: "the event stream contains something other than events")
    }

    /// - Parameter line: an event as a line of NDJSON.
    fileprivate init(parsing line: ArraySlice<UInt8>) throws(LocalAPIError) {
        guard let json = try? JSON(parsing: line, limit: LineSplitter.limit), let name = json["event"]?.string,
            let data = json["data"]
        else { throw Self.malformed }
        if name == Self.errorName { throw LocalAPIError(status: 200, answer: data) }
        self.init(name: name, id: json["id"]?.string, data: data)
    }
}
