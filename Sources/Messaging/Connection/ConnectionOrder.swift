import Cryptography

/// Everything needed to make one connection.
struct ConnectionOrder: Sendable {
    var address: BrokerAddress
    var credentials: BrokerCredentials
    var keepAlive: Duration
    var timeout: Duration
    /// What the connection is made through; `nil`: nothing.
    var proxy: BrokerProxy?
    /// Whether it is only tried if the broker can be reached: nothing is said to it.
    var isProbe = false
    var cleanSession: Bool
    var presenceTopic: Topic?
    var retainsPresence = true
    /// Instead of `offline` at that topic.
    var will: Will?
    /// Whether messages of QoS 1 for inboxes are left to the broker, unread and without an acknowledgement, until
    /// another connection.
    var leavesInboxMessages = false
    /// The most messages in flight at once.
    var window = 100

    /// Whether the connection is made for the library, which knows neither proxies nor WebSocket.
    var isTunneled: Bool { proxy != nil || address.webSocketPath != nil }
    /// For the library: below WebSocket, TLS is none of its business.
    var tlsOfLibrary: TLSContext? { address.webSocketPath == nil ? credentials.tls : nil }

    /// The value sent in CONNECT (MQTT 3.1.1 section 3.1.2.10); libmosquitto accepts no less than 5 s.
    var keepAliveSeconds: Int32 { Int32(min(max(keepAlive.components.seconds, 5), 65_535)) }

    static let online = Array("online".utf8)
    static let offline = Array("offline".utf8)
}

/// An order to a connection, given on another thread.
enum ConnectionCommand: Sendable {
    case publish([QueuedMessage])
    case subscribe(TopicFilter, QoS)
    case unsubscribe(TopicFilter)
    /// - Parameter announcing: whether `offline` is published to the presence topic.
    case close(announcing: Bool)
}
