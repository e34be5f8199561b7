import CCurl
import Groundwork
import Synchronization

/// Passes commands from any thread to the transfer thread.
///
/// Commands are put into an inbox and wake the thread; the threads share nothing else.
final class TransferLoop: Sendable {
    /// Shared by the whole process and, like ``NamedThread/storage``, alive as long as it.
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

    /// Ends an order that is in progress or still waiting, with ``HTTPError/cancelled``; does nothing if it is over.
    func cancel(_ order: TransferOrder) {
        order.cancel()
        post(.cancel(order))
    }

    /// Lets libcurl offer the piece of the body again for which there was no room.
    func resume(_ order: TransferOrder) { post(.resume(order)) }

    /// Closes the owner's connections as they become idle and keeps none of them for later requests.
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
