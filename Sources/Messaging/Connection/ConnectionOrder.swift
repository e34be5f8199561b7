import Cryptography

/// Everything that one connection is made with.
struct ConnectionOrder: Sendable {
    var address: BrokerAddress
    var credentials: BrokerCredentials
    var keepAlive: Duration
    var timeout: Duration
    var cleanSession: Bool
    var presenceTopic: Topic?
    /// The most messages under way at once.
    var window = 100

    /// As MQTT sends it (MQTT 3.1.1 section 3.1.2.10); libmosquitto takes no less than 5 s.
    var keepAliveSeconds: Int32 { Int32(min(max(keepAlive.components.seconds, 5), 65_535)) }

    static let online = Array("online".utf8)
    static let offline = Array("offline".utf8)
}

/// What a connection is told to do by others than its own thread.
enum ConnectionCommand: Sendable {
    case publish([QueuedMessage])
    case subscribe(TopicFilter, QoS)
    case unsubscribe(TopicFilter)
    /// - Parameter announcing: whether `offline` is left at the presence topic.
    case close(announcing: Bool)
}
