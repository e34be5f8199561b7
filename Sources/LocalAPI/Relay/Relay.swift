public import HTTPClient

/// A second Unix socket of a ``LocalServer``, whose requests are passed on to other servers: neither a request's body
/// nor its answer is ever whole in memory.
///
/// Its connections are handled by the thread that serves the local API.
public struct Relay: Sendable {
    /// Answers a request that was admitted. An error becomes a JSON error like those of the local API, or, once the
    /// answer has begun, the early end of the connection.
    public typealias Answering = @Sendable (RelayBody, RelayWriter) async throws -> Void

    let socketPath: String
    let group: UInt32?
    let open: @Sendable (RelayHead) throws -> Answering

    /// - Parameters:
    ///   - socketPath: where it listens; the file's mode is 0660.
    ///   - group: the group of the file; `nil` for that of the local API's.
    ///   - open: decides by the head of a request alone; must not block.
    public init(socketPath: String, group: UInt32?, open: @escaping @Sendable (RelayHead) throws -> Answering) {
        self.socketPath = socketPath
        self.group = group
        self.open = open
    }

    /// A connection has one request at a time, so that those of connections are the limits of requests.
    var limits: LocalServer.Limits = {
        var limits = LocalServer.Limits()
        (limits.connections, limits.connectionsOfOthers, limits.connectionsPerUser) = (96, 80, 32)
        (limits.requestsOfOthers, limits.requestsPerUser) = (80, 32)
        return limits
    }()
}

/// The head of a request to a ``Relay``.
public struct RelayHead: Sendable {
    public let method: String
    /// As it was sent.
    public let target: String
    /// Fields with names and values that are allowed (RFC 9110 section 5).
    public let headers: HTTPHeaders
    public let peer: Peer
    /// Whether the peer may do everything.
    public let isOwner: Bool
    /// Whether the policy lets the peer operate.
    public let mayOperate: Bool

    public init(
        method: String, target: String, headers: HTTPHeaders, peer: Peer, isOwner: Bool, mayOperate: Bool
    ) {
        self.method = method
        self.target = target
        self.headers = headers
        self.peer = peer
        self.isOwner = isOwner
        self.mayOperate = mayOperate
    }
}
