import Groundwork

/// Collects a whole response for the caller who waits for it.
final class ResponseCollector: TransferSink {
    private struct State {
        var response = HTTPResponse(status: 0)
        /// How the transfer ended: with or without an error.
        var end: Result<Void, HTTPError>?
    }
    private let state = AsyncCondition(State())
    private let limit: Int

    /// - Parameter limit: the most bytes of the body.
    init(limit: Int) { self.limit = limit }

    /// Waits until the transfer has ended.
    func response() async -> Result<HTTPResponse, HTTPError> {
        await state.wait { state in state.end.map { end in end.map { state.response } } }
    }

    func receive(head: ResponseHead) {
        state.change {
            $0.response.status = head.status
            $0.response.headers = head.headers
        }
    }

    func receive(body piece: UnsafeRawBufferPointer) -> BodyVerdict {
        state.change { state in
            guard state.response.body.count + piece.count <= limit else { return .tooLarge(limit: limit) }
            state.response.body += piece
            return .taken
        }
    }

    func end(_ error: HTTPError?) {
        state.change { $0.end = error.map { .failure($0) } ?? .success(()) }
    }
}
