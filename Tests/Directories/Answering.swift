import HTTPClient
import Synchronization

@testable import Directories

/// A server that answers requests in order, and notes them.
final class Answering: DirectoryServer {
    struct Request: Sendable {
        let method: String
        let path: String
        let headers: HTTPHeaders
        let body: [UInt8]?
    }

    struct Unanswered: Error {}
    struct Refused: Error { let status: Int }

    private let state: Mutex<(answers: [HTTPResponse], requests: [Request])>

    /// - Parameter answers: statuses with bodies.
    init(_ answers: (Int, String)...) {
        state = Mutex((answers.map { HTTPResponse(status: $0, body: Array($1.utf8)) }, []))
    }

    init(_ answers: HTTPResponse...) { state = Mutex((answers, [])) }

    var requests: [Request] { state.withLock { $0.requests } }

    func send(
        _ method: String, _ path: String, headers: HTTPHeaders, body: [UInt8]?
    ) async throws -> HTTPResponse {
        try state.withLock { state in
            state.requests.append(Request(method: method, path: path, headers: headers, body: body))
            guard !state.answers.isEmpty else { throw Unanswered() }
            return state.answers.removeFirst()
        }
    }

    func refusal(of response: HTTPResponse, _ operation: DirectoryOperation) -> any Error {
        Refused(status: response.status)
    }
}

/// The error something fails with, if it is of this type.
func failure<Failure: Error>(as type: Failure.Type, _ work: () async throws -> some Any) async -> Failure? {
    do {
        _ = try await work()
        return nil
    } catch {
        return error as? Failure
    }
}
