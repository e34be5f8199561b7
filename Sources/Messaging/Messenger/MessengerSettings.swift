import Groundwork

/// How a ``Messenger`` behaves; the defaults are those of MAG 9.1.
public struct MessengerSettings: Sendable {
    /// The longest silence towards the broker: 5 to 65,535 s, in whole seconds.
    public var keepAlive = Duration.seconds(60)
    /// Asked before each attempt: the proxy on the way to a broker; `nil`: none. If it throws, the attempt has failed.
    public var proxy: @Sendable (BrokerAddress) throws -> BrokerProxy? = { _ in nil }
    /// From resolving the host name to the broker's verdict on the credentials.
    public var connectTimeout = Duration.seconds(30)
    /// Whether the broker forgets subscriptions and waiting messages between connections.
    public var cleanSession = false
    /// The topic of the messages `online` and `offline`; `nil` publishes neither. `offline` is also the last will.
    public var presenceTopic: Topic?
    /// Whether the broker keeps the last of them; some take no retained messages, and hang up.
    public var retainsPresence = true
    /// Where the broker reports errors (MAG 9.2): subscribed to for as long as there is a connection.
    public var reportTopic: Topic?
    /// What the broker publishes if this client vanishes; not together with ``presenceTopic``, which has its own.
    public var will: Will?
    /// The most messages that wait for the broker's acknowledgement at once, 1 to 1000.
    public var window = 100
    /// The delays between attempts to connect. Starts over after a connection on which a message was acknowledged, or
    /// which lasted ``steadyAfter``.
    public var backoff = Backoff(initial: .seconds(1), cap: .seconds(60))
    /// Asked after each failure: a delay that the next attempt needs at least, such as while there is no network.
    public var leastDelay: @Sendable () -> Duration = { .zero }
    /// How often it is tried whether the first of several brokers can be reached again, while another is used.
    public var returnCheck = Duration.seconds(600)
    public var steadyAfter = Duration.seconds(10)
    /// How often it is tried whether messages for inboxes can be kept again.
    public var roomCheck = Duration.seconds(30)
    /// The largest payload that is handed to subscribers, in bytes; larger ones are counted and discarded.
    public var payloadLimit = 1 << 20

    public init() {}
}
