import CCurl
import Groundwork
import Synchronization

/// The way to the transfer thread, for any thread.
///
/// Commands wait in an inbox and wake the thread; nothing else crosses.
final class TransferLoop: Sendable {
    /// Of the whole process, and like ``NamedThread/storage`` for as long as it lives.
    static let shared = TransferLoop()

    enum Command: Sendable {
        case start(TransferOrder)
        case cancel(TransferOrder)
        case resume(TransferOrder)
        case forget(ConnectionOwner)
    }

    private let inbox = Mutex<[Command]>([])
    private let multi: Result<MultiHandle, HTTPError>

    private init() {
        multi = Result { () throws(HTTPError) in try MultiHandle() }
        guard case .success(let multi) = multi else { return }
        let engine = TransferEngine(multi: multi)
        Task { await engine.run(for: self) }
    }

    func start(_ order: TransferOrder) {
        if case .failure(let error) = multi { return order.sink.end(error) }
        post(.start(order))
    }

    /// Ends an order that is under way or still waits, with ``HTTPError/cancelled``; one that is over is left alone.
    func cancel(_ order: TransferOrder) {
        order.cancel()
        post(.cancel(order))
    }

    /// Has the piece of body offered again that found no room.
    func resume(_ order: TransferOrder) { post(.resume(order)) }

    /// Closes the owner's connections as they fall idle and keeps none of them for later requests.
    func forget(_ owner: ConnectionOwner) { post(.forget(owner)) }

    /// The commands since the last call, in order.
    func takeCommands() -> [Command] {
        inbox.withLock { commands in
            defer { commands = [] }
            return commands
        }
    }

    private func post(_ command: Command) {
        guard case .success(let multi) = multi else { return }
        inbox.withLock { $0.append(command) }
        multi.wake()
    }
}
