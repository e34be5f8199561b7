import Groundwork

/// The body of one request, handed over in pieces while it is sent, so that only a few of them are in memory.
///
///     request.feed = feed
///     while let piece = next() { guard await feed.send(piece) else { break } }
///
/// What was sent is gone: a request that has to be repeated needs a new feed.
public final class BodyFeed: Sendable {
    /// From this many bytes on, the source has to wait.
    public static let bound = 262_144

    /// Of the whole body, in bytes; `nil` if it is not known: then ``finish()`` ends the body.
    public let length: Int?

    private struct State {
        /// How much the source has handed over.
        var received = 0
        var waiting: [UInt8] = []
        /// How much of `waiting` was taken.
        var taken = 0
        /// The transfer asked for more and is paused.
        var isPaused = false
        var hasEnded = false
        /// The source has handed over everything.
        var isWhole = false
        var order: TransferOrder?
    }
    private let state = AsyncCondition(State())

    /// - Parameter length: of the whole body, in bytes; `nil` if it is not known.
    public init(length: Int?) { self.length = length }

    /// Waits until there is room, then adds the piece.
    ///
    /// - Returns: `false` when the transfer is over, or the piece goes beyond the length.
    public func send(_ piece: [UInt8]) async -> Bool {
        let length = length
        let (isOpen, paused) = await state.wait { state -> (Bool, TransferOrder?)? in
            guard !state.hasEnded, state.received + piece.count <= length ?? .max else { return (false, nil) }
            guard state.waiting.count - state.taken < Self.bound else { return nil }
            state.waiting.removeFirst(state.taken)
            state.taken = 0
            state.waiting += piece
            state.received += piece.count
            defer { state.isPaused = false }
            return (true, state.isPaused ? state.order : nil)
        }
        if let paused { TransferEngine.resume(paused) }
        return isOpen
    }

    /// Ends a body of unknown length after the bytes that were handed over.
    public func finish() {
        let paused = state.change { state in
            state.isWhole = true
            defer { state.isPaused = false }
            return state.isPaused ? state.order : nil
        }
        if let paused { TransferEngine.resume(paused) }
    }

    /// The transfer is over, or there will be none: a source that waits gets `false`.
    public func end() {
        state.change { state in
            state.hasEnded = true
            (state.waiting, state.order) = ([], nil)
        }
    }

    /// Called when there is a request that will take the pieces.
    func begin(_ order: TransferOrder) { state.change { $0.order = order } }

    /// On the transfer thread.
    ///
    /// - Returns: the count of bytes read, 0 at the end of a body of unknown length; `nil` when the next piece has not
    ///   come yet.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        state.change { state in
            let piece = state.waiting[state.taken...].prefix(buffer.count)
            guard !piece.isEmpty else {
                if state.isWhole { return 0 }
                state.isPaused = true
                return nil
            }
            buffer.copyBytes(from: piece)
            state.taken += piece.count
            if state.taken == state.waiting.count { (state.waiting, state.taken) = ([], 0) }
            return piece.count
        }
    }
}
