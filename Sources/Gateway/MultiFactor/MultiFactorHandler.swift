import Groundwork
public import HTTPClient
import Synchronization

/// Recognizes answers of a called API that demand another factor, and answers them with header fields for the repeated
/// call (MAG 6.6).
///
/// The handlers of a session see every answer that is not a success, in their order; the first one that knows it goes
/// on. The fields of all handlers accumulate.
public protocol MultiFactorHandler: Sendable {
    /// Sends the call again, with these fields and all earlier ones of any handler.
    ///
    /// - Throws: ``MultiFactorError/headersInvalid(reason:)``, and what a call throws.
    typealias Repetition = @Sendable (_ headers: HTTPHeaders) async throws -> CallAnswer

    /// Called before a call is sent for the first time.
    ///
    /// - Throws: why it must not be sent.
    func admit(_ call: ChallengedCall) throws

    /// Answers what an API demands.
    ///
    /// - Parameter answer: of the API, with its whole body.
    /// - Returns: the answer to go on with; `nil` if the API demands nothing that this handler knows.
    /// - Throws: why the call ends; ``MultiFactorError/cancelled`` if a person or a program does not want to go on.
    func complete(
        _ call: ChallengedCall, after answer: HTTPResponse, repeating repetition: @escaping Repetition
    ) async throws -> CallAnswer?

    /// Ends what waits, because the session ends.
    func close() async
}

extension MultiFactorHandler {
    public func admit(_ call: ChallengedCall) throws {}
    public func close() async {}
}

/// A call as multi-factor handlers see it.
public struct ChallengedCall: Sendable {
    public let call: APICall
    /// Method and absolute URL without its query.
    public let target: String
    /// The user in whose name it is made; `nil` for the board itself, and for a user without a name.
    public let userName: String?
    /// When it was first sent, by the session's monotonic clock.
    public let begun: Duration
    /// Makes another call in the same name, with the same credentials. No handler sees its answer.
    public let send: @Sendable (APICall) async throws -> HTTPResponse

    init(
        _ call: APICall, to target: HTTPSAddress, as userName: String?, at begun: Duration,
        sending send: @escaping @Sendable (APICall) async throws -> HTTPResponse
    ) {
        self.call = call
        self.target = "\(call.method) \(target.url.prefix { $0 != "?" && $0 != "#" })"
        self.userName = userName
        self.begun = begun
        self.send = send
    }
}

/// Passes the calls of a session through its handlers.
struct MultiFactor: Sendable {
    /// How many factors one call may demand.
    static let limit = 8

    let handlers: [any MultiFactorHandler]

    /// - Parameter send: sends the call with additional fields.
    func complete(
        _ call: ChallengedCall, sending send: @escaping @Sendable (HTTPHeaders) async throws -> CallAnswer
    ) async throws -> CallAnswer {
        for handler in handlers { try handler.admit(call) }
        let added = AddedHeaders()
        var answer = try await send([:])
        for _ in 0..<Self.limit {
            // A body that still arrives is that of a success.
            guard let response = answer.response, !response.isSuccess,
                let next = try await next(call, after: response, repeating: { try await send(try added.adding($0)) })
            else { return answer }
            answer = next
        }
        return answer
    }

    private func next(
        _ call: ChallengedCall, after response: HTTPResponse,
        repeating repetition: @escaping MultiFactorHandler.Repetition
    ) async throws -> CallAnswer? {
        for handler in handlers {
            if let answer = try await handler.complete(call, after: response, repeating: repetition) { return answer }
        }
        return nil
    }

    func close() async { for handler in handlers { await handler.close() } }
}

/// The fields that the handlers have added to one call.
private final class AddedHeaders: Sendable {
    private let headers = Mutex(HTTPHeaders())

    /// Fields that belong to the session or to the connection.
    private static let reserved: Set = [
        "authorization", "mag-identifier", "host", "connection", "content-length", "transfer-encoding", "expect",
    ]
    private static let nameLimit = 64
    private static let valueLimit = 4096

    /// - Returns: all fields until now.
    /// - Throws: ``MultiFactorError/headersInvalid(reason:)``
    func adding(_ more: HTTPHeaders) throws(MultiFactorError) -> HTTPHeaders {
        for field in more.fields { try Self.check(field) }
        return headers.withLock { headers in
            for field in more.fields { headers.set(field.name, field.value) }
            return headers
        }
    }

    private static func check(_ field: HTTPHeaders.Field) throws(MultiFactorError) {
        let name = field.name
        guard (1...nameLimit).contains(name.utf8.count),
            name.utf8.allSatisfy({ ASCII.isLetterOrDigit($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") })
        else { throw .headersInvalid(reason: "the name of a field is not valid") }
        guard !reserved.contains(name.lowercased()) else {
            throw .headersInvalid(reason: "\(name) belongs to the session")
        }
        guard field.value.utf8.count <= valueLimit, field.value.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw .headersInvalid(reason: "the value of \(name) is not printable ASCII, or too long")
        }
    }
}
