import Synchronization

/// Holds what has come of a stream until its reader takes it, within ``HTTPStream/bufferLimit``.
final class ChunkQueue: TransferSink {
    private typealias Opening = CheckedContinuation<Result<ResponseHead, HTTPError>, Never>
    private typealias Reader = CheckedContinuation<Result<[UInt8]?, HTTPError>, Never>

    private struct State {
        var opening: Opening?
        var readers: [Reader] = []
        var waiting: [UInt8] = []
        /// The transfer offered a piece that found no room.
        var isPaused = false
        var end: Result<[UInt8]?, HTTPError>?

        /// Gives what waits, or the end, or else makes the reader wait.
        ///
        /// - Returns: what to give at once, and whether the transfer has to be resumed.
        mutating func take(for reader: Reader) -> (Result<[UInt8]?, HTTPError>?, resumes: Bool) {
            guard waiting.isEmpty else {
                defer { (waiting, isPaused) = ([], false) }
                return (.success(waiting), isPaused)
            }
            if let end { return (end, false) }
            readers.append(reader)
            return (nil, false)
        }
    }
    private let state = Mutex(State())

    func stream(of order: TransferOrder) async throws(HTTPError) -> HTTPStream {
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { $0.opening = continuation }
                TransferLoop.shared.start(order)
            }
        } onCancel: {
            TransferLoop.shared.cancel(order)
        }
        return HTTPStream(head: try result.get(), queue: self, order: order)
    }

    func next(of order: TransferOrder) async throws(HTTPError) -> [UInt8]? {
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (reader: Reader) in
                let (result, resumes) = state.withLock { $0.take(for: reader) }
                if resumes { TransferLoop.shared.resume(order) }
                if let result { reader.resume(returning: result) }
            }
        } onCancel: {
            TransferLoop.shared.cancel(order)
        }
        return try result.get()
    }

    func receive(head: ResponseHead) {
        let opening = state.withLock { state in
            defer { state.opening = nil }
            return state.opening
        }
        opening?.resume(returning: .success(head))
    }

    func receive(body piece: UnsafeRawBufferPointer) -> BodyVerdict {
        let (verdict, reader): (BodyVerdict, Reader?) = state.withLock { state in
            if !state.readers.isEmpty { return (.taken, state.readers.removeFirst()) }
            guard state.waiting.count + piece.count <= HTTPStream.bufferLimit else {
                state.isPaused = true
                return (.pause, nil)
            }
            state.waiting += piece
            return (.taken, nil)
        }
        reader?.resume(returning: .success(Array(piece)))
        return verdict
    }

    func end(_ error: HTTPError?) {
        let (opening, readers, end) = state.withLock { state in
            let end: Result<[UInt8]?, HTTPError> = error.map { .failure($0) } ?? .success(nil)
            state.end = end
            // Who cancels does not want the rest; who lost the connection gets what came before.
            if error == .cancelled { state.waiting = [] }
            defer { (state.opening, state.readers) = (nil, []) }
            return (state.opening, state.readers, end)
        }
        opening?.resume(returning: .failure(error ?? .cancelled))
        for reader in readers { reader.resume(returning: end) }
    }
}
