public import Groundwork
import HTTPClient

/// A handler's answer.
public struct LocalResponse: Sendable {
    /// Writes the events of a stream, until they end or the reader is gone.
    public typealias Production = @Sendable (StreamWriter) async throws -> Void

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

    /// - Parameter type: its media type, one that the route's description names.
    public static func text(_ text: String, type: String) -> LocalResponse {
        LocalResponse(
            status: 200, headers: ["Content-Type": type, "Cache-Control": "no-store"], body: .bytes(Array(text.utf8)))
    }

    /// A stream that stays open until the events end or the reader disconnects.
    ///
    /// Events are taken at the reader's pace: the source decides what happens to events while the reader is behind.
    /// An error of the source becomes the stream's last event.
    public static func events(_ events: some AsyncSequence<LocalEvent, any Error> & Sendable) -> LocalResponse {
        stream { writer in
            for try await event in events { guard await writer.send(event) else { return } }
        }
    }

    /// A stream that stays open until the events end or the reader disconnects, for a source that does not fail.
    public static func events(_ events: some AsyncSequence<LocalEvent, Never> & Sendable) -> LocalResponse {
        stream { writer in
            for await event in events { guard await writer.send(event) else { return } }
        }
    }

    /// A stream that stays open until its source ends or the reader disconnects, for a source that writes the bytes of
    /// its events itself.
    public static func stream(_ production: @escaping Production) -> LocalResponse {
        LocalResponse(status: 200, headers: ["Cache-Control": "no-store"], body: .events(production))
    }

    /// An error answer with the HTTP status of the error's kind.
    static func error(_ error: any Error) -> LocalResponse {
        let explanation = Explanation(of: error)
        var answer = json(explanation.answer, status: explanation.kind.httpStatus)
        switch error as? LocalAPIError {
        case .methodNotAllowed(_, _, let allowed): answer.headers.add("Allow", allowed.joined(separator: ", "))
        case .tokenRefused: answer.headers.add("WWW-Authenticate", "Bearer")
        case .tooManyRequests, .tooManyConnections: answer.headers.add("Retry-After", "1")
        default: break
        }
        return answer
    }

    static let errorSchema = Schema.object(all: [
        "error": .object(Schema.explanation, required: Schema.requiredOfExplanation)
    ])
}
