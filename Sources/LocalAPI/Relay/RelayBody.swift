import Groundwork

/// The body of a request to a ``Relay``, in the pieces in which it arrives. While a few are waiting, the program that
/// sends them has to wait.
public final class RelayBody: Sendable {
    /// From this many bytes on, the program has to wait.
    static let bound = 64 << 10

    /// As the head states it, in bytes; `nil` if it does not.
    public let length: Int?

    private struct State {
        var waiting: [UInt8] = []
        var isComplete = false
        /// The program is gone, or the reader is.
        var isGone = false
        /// How much has arrived, in bytes.
        var received = 0
    }
    private let state: AsyncCondition<State>
    private let connection: SuspendableConnection

    init(length: Int?, of connection: SuspendableConnection) {
        self.length = length
        self.connection = connection
        state = AsyncCondition(State(isComplete: length == 0))
    }

    /// The next piece, as large as what has arrived.
    ///
    /// - Returns: `nil` at the end.
    /// - Throws: `CancellationError` if the rest will never come.
    public func next() async throws -> [UInt8]? {
        let piece = await withTaskCancellationHandler {
            await state.wait { state -> Result<[UInt8]?, CancellationError>? in
                if state.isGone { return .failure(CancellationError()) }
                guard state.waiting.isEmpty else {
                    defer { state.waiting = [] }
                    return .success(state.waiting)
                }
                return state.isComplete ? .success(nil) : nil
            }
        } onCancel: {
            abandon()
        }
        connection.resume()
        return try piece.get()
    }

    // MARK: On libmicrohttpd's thread

    var hasRoom: Bool { state.read { $0.waiting.count < Self.bound || $0.isGone } }

    enum Offer {
        case taken
        /// It is not read any more.
        case discarded
        /// There is no room at present.
        case full
    }

    func offer(_ piece: UnsafeRawBufferPointer) -> Offer {
        state.change { state in
            guard !state.isGone else { return .discarded }
            guard state.waiting.count < Self.bound else { return .full }
            state.waiting += piece
            state.received += piece.count
            return .taken
        }
    }

    func finish() { state.change { $0.isComplete = true } }

    // MARK: On any thread

    /// How much has arrived of a body that is still wanted, in bytes; `nil` once it is complete.
    var received: Int? { state.read { $0.isComplete || $0.isGone ? nil : $0.received } }

    /// It is not read any more: what is waiting and what still comes is discarded.
    public func abandon() {
        state.change { state in
            state.isGone = true
            state.waiting = []
        }
        connection.resume()
    }
}
