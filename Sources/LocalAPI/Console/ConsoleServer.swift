import Groundwork
import Synchronization

/// The listener of the console's page, on loopback: it serves the page, and the routes of the local API to that page
/// with the rights of the user who opened it.
///
/// It listens only while there is a session: without one there is neither a socket nor a thread, and nothing wakes up.
public final class ConsoleServer: Sendable {
    /// An offered session.
    public struct Offer: Sendable {
        /// Opens the page once; it holds the token in its fragment, which browsers do not send.
        public let address: String
        public let port: UInt16
        /// How long the address waits to be opened.
        public let life: Duration
    }

    /// A session as reported.
    public struct SessionState: Sendable {
        public let uid: UInt32
        public let isOpen: Bool
        /// Until it ends if it is not used.
        public let secondsLeft: Int64
    }

    private struct Running {
        let door: ConsoleDoor
        let service: ServerContext
        let daemon: Daemon
    }

    private let port: UInt16
    private let idle: Duration
    private let running = Mutex<Running?>(nil)
    private let watch = Mutex<Task<Void, Never>?>(nil)
    /// Held while the listener starts or stops: a port is free only when its last listener is gone.
    private let turn = AsyncMutex()

    /// - Parameters:
    ///   - port: on 127.0.0.1; 0 for any.
    ///   - idle: how long an unused session lasts.
    public init(port: UInt16, idle: Duration) {
        self.port = port
        self.idle = idle
    }

    /// Offers a session to a user, and listens if no user had one.
    ///
    /// - Parameters:
    ///   - peer: whose rights it gets.
    ///   - policy: of the local API.
    ///   - router: the routes that the page may ask for.
    ///   - files: of the page.
    /// - Throws: ``LocalAPIError/tooManyConsoles(limit:)``, ``LocalAPIError/cannotListenOnPort(_:reason:)``,
    ///   ``LocalAPIError/libraryMissing(name:)``
    public func offer(to peer: Peer, by policy: AccessPolicy, router: Router, files: [ConsoleFile]) async throws
        -> Offer
    {
        await turn.lock()
        defer { turn.unlock() }
        let here = try running.withLock { running throws(LocalAPIError) in
            if let running { return running }
            let started = try start(policy, router, files)
            running = started
            return started
        }
        let (token, ended) = try here.door.change { table throws(LocalAPIError) in
            try table.offer(to: peer, now: .now)
        }
        here.service.stop(sessions: ended)
        look()
        let port = here.door.gate.port
        return Offer(address: "http://127.0.0.1:\(port)/#\(token)", port: port, life: ConsoleTable.offerLife)
    }

    /// - Parameter uid: only this user's; `nil`: those of all users.
    public func sessions(of uid: UInt32?) -> [SessionState] {
        guard let door = running.withLock({ $0?.door }) else { return [] }
        let now = ContinuousClock.now
        return door.change { $0.sessions }.filter { uid == nil || $0.peer.uid == uid }.map { session in
            let left = session.end(idle: idle, now: now) - now
            return SessionState(
                uid: session.peer.uid, isOpen: session.isOpen, secondsLeft: max(0, left.components.seconds))
        }
    }

    /// Ends sessions at once, with their streams.
    ///
    /// - Parameter uid: only this user's; `nil`: those of all users.
    /// - Returns: how many.
    public func end(of uid: UInt32?) -> Int {
        guard let here = running.withLock({ $0.map { ($0.door, $0.service) } }) else { return 0 }
        let ended = here.0.change { table in table.end { uid == nil || $0.peer.uid == uid } }
        here.1.stop(sessions: ended)
        tidy()
        return ended.count
    }

    /// Ends every session and stops listening.
    public func close() async {
        _ = end(of: nil)
        await stopIfUnused()
    }

    private func start(_ policy: AccessPolicy, _ router: Router, _ files: [ConsoleFile]) throws(LocalAPIError)
        -> Running
    {
        let library = try MicroHTTPD.library()
        let socket = try ListeningSocket(onLoopbackPort: port)
        let door = ConsoleDoor(port: socket.port, files: files, idle: idle)
        var routes = router
        routes.addConsole(files, door, policy: policy) { [weak self] in self?.look() }
        var limits = LocalServer.Limits()
        // A browser takes six.
        (limits.connections, limits.connectionsPerUser, limits.connectionsOfOthers) = (64, 16, 32)
        let service = ServerContext(library, router: routes, policy: policy, limits: limits, console: door)
        let daemon = try Daemon(on: socket, serving: service)
        return Running(door: door, service: service, daemon: daemon)
    }

    /// Ends what is over, now and whenever something may be; sleeps in between.
    private func look() {
        watch.withLock { watch in
            watch?.cancel()
            watch = Task { [weak self] in
                while let next = self?.sweep() {
                    do { try await Task.sleep(until: next, clock: .continuous) } catch { return }
                }
            }
        }
    }

    /// - Returns: when to look again; `nil` if there is no session.
    private func sweep() -> ContinuousClock.Instant? {
        guard let here = running.withLock({ $0.map { ($0.door, $0.service) } }) else { return nil }
        let (ended, next) = here.0.change { table in table.expire(now: .now) }
        here.1.stop(sessions: ended)
        if next == nil { tidy() }
        return next
    }

    /// In a task of its own: a request of the page itself may have ended the session, and the listener waits for it.
    private func tidy() { Task { await stopIfUnused() } }

    private func stopIfUnused() async {
        await turn.lock()
        // The daemon ends with this statement, and the port is free.
        await takeUnused()?.shutDown(within: .seconds(1))
        turn.unlock()
    }

    private func takeUnused() -> Daemon? {
        running.withLock { running in
            guard let here = running, here.door.change({ $0.sessions.isEmpty }) else { return nil }
            running = nil
            return here.daemon
        }
    }
}
