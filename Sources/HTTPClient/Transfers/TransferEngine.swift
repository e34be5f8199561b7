import CCurl
import Glibc
import Groundwork
import Synchronization

/// Drives all transfers of the process on the thread `http`, which it occupies permanently: it sleeps in `poll` until
/// a socket, a transfer's deadline or a command wakes it, and indefinitely when nothing is in progress.
///
/// Commands come from any thread into an inbox and wake it; the threads share nothing else.
actor TransferEngine {
    private enum Command: Sendable {
        case start(TransferOrder)
        case cancel(TransferOrder)
        case resume(TransferOrder)
        case forget(ConnectionOwner)
    }

    /// The one of the process, as long-lived as it; it starts with the first command.
    private static let shared = Result { () throws(HTTPError) -> TransferEngine in
        let engine = TransferEngine(multi: try MultiHandle())
        Task { await engine.run() }
        return engine
    }

    /// The most connection pools and idle easy handles kept for later use.
    private static let poolLimit = 64
    private static let idleHandleLimit = 4

    private let thread = NamedThread("http")
    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    private nonisolated let inbox = Mutex<[Command]>([])
    private nonisolated let multi: MultiHandle
    private var transfers: [ObjectIdentifier: Transfer] = [:]
    private var idleHandles: [EasyHandle] = []
    private var pools: [(key: ConnectionPool.Key, pool: ConnectionPool)] = []

    private init(multi: MultiHandle) { self.multi = multi }

    // MARK: On any thread

    /// Begins an order, which reports to its sink.
    static func start(_ order: TransferOrder) {
        switch shared {
        case .success(let engine): engine.post(.start(order))
        case .failure(let error): order.sink.end(error)
        }
    }

    /// Ends an order that is in progress or still waiting, with ``HTTPError/cancelled``; does nothing if it is over.
    static func cancel(_ order: TransferOrder) {
        order.cancel()
        post(.cancel(order))
    }

    /// Lets libcurl offer the piece of the body again for which there was no room.
    static func resume(_ order: TransferOrder) { post(.resume(order)) }

    /// Closes the owner's connections as they become idle and keeps none of them for later requests.
    static func forget(_ owner: ConnectionOwner) { post(.forget(owner)) }

    private static func post(_ command: Command) {
        if case .success(let engine) = shared { engine.post(command) }
    }

    private nonisolated func post(_ command: Command) {
        inbox.withLock { $0.append(command) }
        multi.wake()
    }

    // MARK: On the transfer thread

    /// Never returns.
    private func run() {
        // OpenSSL writes to sockets without MSG_NOSIGNAL; a closed socket must show as an error, not as a signal.
        var brokenPipe = sigset_t()
        sigemptyset(&brokenPipe)
        sigaddset(&brokenPipe, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &brokenPipe, nil)
        while true {
            for command in takeCommands() { perform(command) }
            var running: Int32 = 0
            var status = multi.curl.calls.multi_perform(multi.handle, &running)
            endFinished()
            if status == CURLM_OK { status = multi.curl.calls.multi_poll(multi.handle, nil, 0, Int32.max, nil) }
            guard status != CURLM_OK else { continue }
            endAll(because: status)
            // What fails here, such as memory, fails again at once.
            usleep(100_000)
        }
    }

    /// The commands since the last call, in order.
    private func takeCommands() -> [Command] {
        inbox.withLock { commands in
            defer { commands = [] }
            return commands
        }
    }

    private func perform(_ command: Command) {
        switch command {
        case .start(let order): begin(order)
        case .cancel(let order):
            guard let transfer = transfers[ObjectIdentifier(order)] else { return }
            // The answer comes first: removing the handle may wait for a name server (libcurl joins its resolver
            // thread).
            order.sink.end(.cancelled)
            remove(transfer)
        case .resume(let order):
            guard let transfer = transfers[ObjectIdentifier(order)] else { return }
            _ = multi.curl.calls.easy_pause(transfer.easy.handle, CURLPAUSE_CONT)
        case .forget(let owner):
            // A pool closes with its last transfer.
            pools.removeAll { $0.key.owner == owner }
        }
    }

    private func begin(_ order: TransferOrder) {
        guard !order.isCancelled else { return end(order, .cancelled) }
        do throws(HTTPError) {
            let easy = if let idle = idleHandles.popLast() { idle } else { try EasyHandle(of: multi.curl) }
            let transfer = try Transfer(order, on: easy, pool: pool(for: order.pool))
            let status = multi.curl.calls.multi_add_handle(multi.handle, easy.handle)
            guard status == CURLM_OK else { throw failure("start a transfer", status) }
            transfers[ObjectIdentifier(order)] = transfer
        } catch {
            end(order, error)
        }
    }

    /// Ends an order that has not started.
    private func end(_ order: TransferOrder, _ error: HTTPError) {
        order.sink.end(error)
        order.feed?.end()
    }

    private func endFinished() {
        var left: Int32 = 0
        while let message = multi.curl.calls.multi_info_read(multi.handle, &left) {
            var status = CURLE_OK
            guard let handle = latchkey_curl_finished(message, &status) else { continue }
            var reference: UnsafeMutableRawPointer?
            _ = latchkey_curl_get_pointer(multi.curl.table, handle, CURLINFO_PRIVATE, &reference)
            guard let reference else { continue }
            let transfer = Transfer.from(reference)
            transfer.end(status)
            remove(transfer)
        }
    }

    /// Memory or descriptors for `poll` have run out: no transfer can continue.
    private func endAll(because status: CURLMcode) {
        for transfer in transfers.values {
            transfer.order.sink.end(failure("continue", status))
            remove(transfer)
        }
    }

    private func remove(_ transfer: Transfer) {
        _ = multi.curl.calls.multi_remove_handle(multi.handle, transfer.easy.handle)
        transfer.close()
        transfers[ObjectIdentifier(transfer.order)] = nil
        if idleHandles.count < Self.idleHandleLimit { idleHandles.append(transfer.easy) }
    }

    /// The pool of the key. Pools are kept in order of last use; the least recently used one is dropped for a new one.
    private func pool(for key: ConnectionPool.Key) throws(HTTPError) -> ConnectionPool {
        let pool: ConnectionPool
        if let index = pools.firstIndex(where: { $0.key == key }) {
            pool = pools.remove(at: index).pool
        } else {
            pool = try ConnectionPool(of: multi.curl)
        }
        pools.insert((key, pool), at: 0)
        if pools.count > Self.poolLimit { pools.removeLast() }
        return pool
    }

    private func failure(_ operation: String, _ status: CURLMcode) -> HTTPError {
        .library(operation: operation, reason: String(cString: multi.curl.calls.multi_strerror(status)!))
    }
}
