import Synchronization

/// HTTP/1.1 with JSON on a Unix socket, for programs on this board (RFC 9112).
///
/// libmicrohttpd serves it: made for embedding, 150 kB of shared library, one thread that sleeps in epoll(7). SwiftNIO would
/// parse in a memory-safe language, but costs 3.9 MB of the program and 1.6 MB of memory, on a socket that only admitted
/// local users reach.
public final class LocalServer: Sendable {
    /// What one user, and all users together, can take of the server.
    public struct Limits: Sendable {
        /// Connections of all users together; more wait to be accepted.
        public var connections: UInt32 = 144
        /// Connections of all users together who are not owners; more are refused. What is left of ``connections`` is kept for
        /// the owners.
        public var connectionsOfOthers = 128
        /// Connections of one user; more are refused.
        public var connectionsPerUser = 32
        /// Requests under way of one user, event streams among them.
        public var requestsPerUser = 10
        /// Requests under way of all users together who are not owners. Each may be an event stream, which holds what its
        /// reader is behind.
        public var requestsOfOthers = 48
        /// In which a request has to become complete.
        public var request: Duration = .seconds(10)
        /// In which a reader has to take something of its answer, in whole seconds. A stream without events is none.
        public var stall: Duration = .seconds(60)
        /// Of a request's body, in bytes.
        public var bodyBytes = 1 << 20
        /// Of a request's head, in bytes.
        public var headBytes = 16 << 10

        public init() {}
    }

    private let socketPath: String
    private let policy: AccessPolicy
    private let router: Router
    private let limits: Limits
    private let daemon = Mutex<Daemon?>(nil)

    public init(socketPath: String, policy: AccessPolicy, router: Router, limits: Limits = Limits()) {
        self.socketPath = socketPath
        self.policy = policy
        self.limits = limits
        var router = router
        router.addOpenAPI()
        self.router = router
    }

    /// Listens from now on.
    ///
    /// - Throws: ``LocalAPIError/alreadyRunning(path:)``, ``LocalAPIError/cannotListen(path:reason:)``,
    ///   ``LocalAPIError/libraryMissing(name:)``
    public func listen() throws(LocalAPIError) {
        let service = LocalService(try MicroHTTPD.library(), router: router, policy: policy, limits: limits)
        let started = try Daemon(on: try ListeningSocket(at: socketPath, group: policy.socketGroup), serving: service)
        daemon.withLock { $0 = started }
    }

    /// Serves until cancelled; then ends every stream, answers every request, and removes the socket.
    ///
    /// - Throws: what ``listen()`` does, unless the server listens already.
    public func run() async throws {
        if daemon.withLock({ $0 == nil }) { try listen() }
        let forever = AsyncStream<Never> { _ in }
        for await _ in forever {}
        let ended = daemon.withLock { daemon in
            defer { daemon = nil }
            return daemon
        }
        // In a task of its own, as nothing waits in a cancelled one.
        await Task { await ended?.quiet(within: .seconds(1)) }.value
    }
}
