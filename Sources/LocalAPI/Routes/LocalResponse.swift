public import Groundwork
import HTTPClient

/// What a handler answers.
public struct LocalResponse: Sendable {
    /// Writes the events of a stream; `send` waits while the reader is behind, and says `false` when it has gone.
    typealias Production = @Sendable (_ send: @Sendable (LocalEvent) async -> Bool) async throws -> Void

    enum Body: Sendable {
        case bytes([UInt8])
        case events(Production)
    }

    let status: Int
    var headers: HTTPHeaders = [:]
    let body: Body

    /// - Parameter status: an HTTP status of success.
    public static func json(_ value: JSON, status: Int = 200) -> LocalResponse {
        LocalResponse(
            status: status, headers: ["Content-Type": "application/json"],
            body: .bytes(value.bytes + [UInt8(ascii: "\n")]))
    }

    /// A stream that stays open until the events end or the reader goes.
    ///
    /// The events are taken in step with the reader: what happens to events while it is behind is for the source to say.
    /// An error of the source is the stream's last event.
    public static func events(_ events: some AsyncSequence<LocalEvent, any Error> & Sendable) -> LocalResponse {
        stream { send in
            for try await event in events { guard await send(event) else { return } }
        }
    }

    /// A stream that stays open until the events end or the reader goes, of a source that does not fail.
    public static func events(_ events: some AsyncSequence<LocalEvent, Never> & Sendable) -> LocalResponse {
        stream { send in
            for await event in events { guard await send(event) else { return } }
        }
    }

    private static func stream(_ production: @escaping Production) -> LocalResponse {
        LocalResponse(status: 200, headers: ["Cache-Control": "no-store"], body: .events(production))
    }

    /// An error, with the status of its kind.
    static func error(_ error: any Error) -> LocalResponse {
        let explanation = Explanation(of: error)
        var answer = json(explanation.answer, status: explanation.kind.httpStatus)
        switch error as? LocalAPIError {
        case .methodNotAllowed(_, _, let allowed): answer.headers.add("Allow", allowed.joined(separator: ", "))
        case .tooManyRequests, .tooManyConnections: answer.headers.add("Retry-After", "1")
        default: break
        }
        return answer
    }

    static let errorSchema = Schema.object(
        ["error": .object(Schema.explanation, required: Schema.requiredOfExplanation)], required: ["error"])
}
