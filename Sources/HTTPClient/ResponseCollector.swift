import Synchronization

/// Collects a whole response for one caller that waits for it.
final class ResponseCollector: TransferSink {
    private struct State {
        var response = HTTPResponse(status: 0)
        var waiting: CheckedContinuation<Result<HTTPResponse, HTTPError>, Never>?
    }
    private let state = Mutex(State())
    private let limit: Int

    /// - Parameter limit: the most bytes of the body.
    init(limit: Int) { self.limit = limit }

    func response(to order: TransferOrder) async throws(HTTPError) -> HTTPResponse {
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { $0.waiting = continuation }
                TransferLoop.shared.start(order)
            }
        } onCancel: {
            TransferLoop.shared.cancel(order)
        }
        return try result.get()
    }

    func receive(head: ResponseHead) {
        state.withLock {
            $0.response.status = head.status
            $0.response.headers = head.headers
        }
    }

    func receive(body piece: UnsafeRawBufferPointer) -> BodyVerdict {
        state.withLock { state in
            guard state.response.body.count + piece.count <= limit else { return .tooLarge(limit: limit) }
            state.response.body += piece
            return .taken
        }
    }

    func end(_ error: HTTPError?) {
        let (waiting, response) = state.withLock { state in
            defer { state.waiting = nil }
            return (state.waiting, state.response)
        }
        waiting?.resume(returning: error.map { .failure($0) } ?? .success(response))
    }
}
