import Groundwork
import Synchronization

/// HTTP/1.1 with JSON on a Unix socket, for programs on this board (RFC 9112).
///
/// It uses libmicrohttpd: made for embedding, 150 kB of shared library, one thread that sleeps in epoll(7). SwiftNIO
/// would parse in a memory-safe language, but costs 3.9 MB of program size and 1.6 MB of memory, for a socket that
/// only admitted local users reach.
public final class LocalServer: Sendable {
    /// Why libmicrohttpd cannot be used; `nil` if it can.
    public static var libraryFault: String? {
        do throws(LocalAPIError) {
            _ = try MicroHTTPD.library()
            return nil
        } catch {
            return error.message
        }
    }

    /// Limits on the resources of one user, and of all users together.
    public struct Limits: Sendable {
        /// Connections of all users together; more wait to be accepted.
        public var connections: UInt32 = 144
        /// Connections of all users who are not owners, together; more are refused. The rest of ``connections`` is
        /// reserved for the owners.
        public var connectionsOfOthers = 128
        /// Connections of one user; more are refused.
        public var connectionsPerUser = 32
        /// Requests in progress of one user, including event streams.
        public var requestsPerUser = 10
        /// Requests in progress of all users who are not owners, together. Each may be an event stream, which buffers
        /// what its reader has not read.
        public var requestsOfOthers = 48
        /// Time in which a request has to become complete.
        public var request: Duration = .seconds(10)
        /// Time in which a reader has to take some of its answer, in whole seconds. Does not apply to a stream
        /// without events.
        public var stall: Duration = .seconds(60)
        /// Size of a request's body, in bytes.
        public var bodyBytes = 1 << 20
        /// Size of a request's head, in bytes.
        public var headBytes = 16 << 10

        public init() {}
    }

    private let socketPath: String
    private let policy: AccessPolicy
    private let router: Router
    private let limits: Limits
    private let relay: Relay?
    private let units: Units
    private let daemon = Mutex<Daemon?>(nil)

    /// The systemd units that tell programs apart; `nil` if units do not matter, and are not looked up.
    public typealias Units = @Sendable () -> Set<String>?

    /// - Parameters:
    ///   - units: asked at each new connection.
    ///   - relay: a second socket, whose requests pass on to other servers.
    public init(
        socketPath: String, policy: AccessPolicy, router: Router, limits: Limits = Limits(),
        units: @escaping Units = { nil }, relay: Relay? = nil
    ) {
        self.units = units
        self.socketPath = socketPath
        self.relay = relay
        self.policy = policy
        self.limits = limits
        var router = router
        router.addOpenAPI()
        self.router = router
    }

    /// Starts listening.
    ///
    /// - Throws: ``LocalAPIError/alreadyRunning(path:)``, ``LocalAPIError/cannotListen(path:reason:)``,
    ///   ``LocalAPIError/libraryMissing(name:)``
    public func listen() throws(LocalAPIError) {
        let library = try MicroHTTPD.library()
        guard let relay else {
            let service = ServerContext(library, router: router, policy: policy, limits: limits, units: units)
            let socket = try ListeningSocket(at: socketPath, group: policy.socketGroup)
            let started = try Daemon(on: socket, serving: service)
            return daemon.withLock { $0 = started }
        }
        let relayed = ServerContext(
            library, router: Router(), policy: policy, limits: relay.limits, units: units, relay: relay)
        var all = limits
        all.connections += relay.limits.connections
        let service = ServerContext(
            library, router: router, policy: policy, limits: all, units: units, relayed: relayed)
        let socket = try ListeningSocket(at: socketPath, group: policy.socketGroup)
        let started = try Daemon(
            on: socket, serving: service, relaying: relay.socketPath, group: relay.group ?? policy.socketGroup)
        daemon.withLock { $0 = started }
    }

    /// Serves until canceled; then ends every stream, answers every request, and removes the socket.
    ///
    /// - Throws: what ``listen()`` throws, unless the server already listens.
    public func run() async throws {
        if daemon.withLock({ $0 == nil }) { try listen() }
        let forever = AsyncStream<Never> { _ in }
        for await _ in forever {}
        let ended = daemon.withLock { daemon in
            defer { daemon = nil }
            return daemon
        }
        // In a separate task, because a canceled one cannot wait.
        await Task { await ended?.shutDown(within: .seconds(1)) }.value
    }
}
