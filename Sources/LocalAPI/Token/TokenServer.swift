import Groundwork

/// A listener on TCP for programs that cannot use Unix sockets, such as those in containers: it answers the holder of
/// its token. Plain HTTP, so usually on loopback.
public final class TokenServer: Sendable {
    /// The program that has the token: the rights of a user, or none but what the policy gives to ``nobody``.
    public struct Program: Sendable {
        let peer: Peer

        /// Of no user: 2^32-1, which the kernel takes for none.
        public static let nobody = Program(uid: .max, groups: [])

        public init(uid: UInt32, groups: Set<UInt32>) {
            // The unit that it runs in is unknown: what is forbidden to a unit of the user is forbidden to it.
            peer = Peer(uid: uid, pid: 0, groups: groups, .noneOf([]))
        }

        public var uid: UInt32 { peer.uid }
    }

    /// The port, also where any was asked for.
    let port: UInt16
    private let daemon: Daemon

    /// Starts listening.
    ///
    /// - Parameters:
    ///   - names: by which it may be asked beside its address.
    ///   - policy: what the program with the token may do.
    ///   - limits: no user is known before the head of a request: all connections are one user's.
    /// - Throws: ``LocalAPIError/cannotListenOnAddress(_:reason:)``, ``LocalAPIError/libraryMissing(name:)``
    public init(
        on address: ListenAddress, names: [String], token: String, program: Program, policy: AccessPolicy,
        router: Router, limits: LocalServer.Limits
    ) throws(LocalAPIError) {
        let library = try MicroHTTPD.library()
        let socket: ListeningSocket
        do throws(Errno) {
            socket = try ListeningSocket(on: address)
        } catch {
            throw .cannotListenOnAddress(address.description, reason: error.description)
        }
        port = socket.port
        let door = TokenDoor(address, port: socket.port, names: names, token: token, peer: program.peer)
        let service = ServerContext(library, router: router, policy: policy, limits: limits, token: door)
        daemon = try Daemon(on: socket, serving: service)
    }

    /// Serves until canceled; then ends every stream, and answers every request.
    public func run() async {
        let forever = AsyncStream<Never> { _ in }
        for await _ in forever {}
        // In a separate task, because a canceled one cannot wait.
        await Task { await daemon.shutDown(within: .seconds(1)) }.value
    }
}
