import Groundwork
import HTTPClient
import Synchronization

@testable import GatewayServices

/// Answers requests in order, and notes them.
final class Answering: Sendable {
    private let state: Mutex<(answers: [HTTPResponse], requests: [ServiceRequest])>

    /// - Parameter answers: statuses with bodies.
    init(_ answers: (Int, String)...) {
        state = Mutex((answers.map { HTTPResponse(status: $0, body: Array($1.utf8)) }, []))
    }

    init(_ answers: HTTPResponse...) { state = Mutex((answers, [])) }

    init(_ answers: [HTTPResponse]) { state = Mutex((answers, [])) }

    var requests: [ServiceRequest] { state.withLock { $0.requests } }

    var client: ServiceClient {
        ServiceClient { request in
            try self.state.withLock { state in
                state.requests.append(request)
                guard !state.answers.isEmpty else { throw Unanswered() }
                return state.answers.removeFirst()
            }
        }
    }

    struct Unanswered: Error {}
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
