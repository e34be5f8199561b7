import Groundwork

/// Holds received pieces of a stream until its reader takes them, within ``HTTPStream/bufferLimit``.
final class ChunkQueue: TransferSink {
    private struct State {
        var head: ResponseHead?
        var waiting: [UInt8] = []
        /// The transfer offered a piece for which there was no room.
        var isPaused = false
        /// How the transfer ended: with or without an error.
        var end: Result<Void, HTTPError>?

        /// The head, or why there is none.
        var opening: Result<ResponseHead, HTTPError>? {
            if let head { return .success(head) }
            return end.map { end in end.flatMap { .failure(.cancelled) } }
        }

        /// - Returns: the waiting bytes or the end, and whether the transfer has to be resumed.
        mutating func takePiece() -> (Result<[UInt8]?, HTTPError>, resumes: Bool)? {
            guard waiting.isEmpty else {
                defer { (waiting, isPaused) = ([], false) }
                return (.success(waiting), isPaused)
            }
            return end.map { ($0.map { nil }, false) }
        }
    }
    private let state = AsyncCondition(State())

    /// Waits for the head of the response.
    func head() async -> Result<ResponseHead, HTTPError> { await state.wait { $0.opening } }

    func next(of order: TransferOrder) async throws(HTTPError) -> [UInt8]? {
        let (piece, resumes) = await withTaskCancellationHandler {
            await state.wait { $0.takePiece() }
        } onCancel: {
            TransferEngine.cancel(order)
        }
        if resumes { TransferEngine.resume(order) }
        return try piece.get()
    }

    func receive(head: ResponseHead) { state.change { $0.head = head } }

    func receive(body piece: UnsafeRawBufferPointer) -> BodyVerdict {
        state.change { state in
            guard state.waiting.isEmpty || state.waiting.count + piece.count <= HTTPStream.bufferLimit else {
                state.isPaused = true
                return .pause
            }
            state.waiting += piece
            return .taken
        }
    }

    func end(_ error: HTTPError?) {
        state.change { state in
            state.end = error.map { .failure($0) } ?? .success(())
            // A canceling reader does not want the rest; after a lost connection the reader still gets what came
            // before.
            if error == .cancelled { state.waiting = [] }
        }
    }
}
