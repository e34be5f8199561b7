import Groundwork

/// A standing subscription, and how much of it is kept.
public struct InboxPolicy: Sendable, Equatable {
    public var name: String
    /// Of whole topics.
    public var filter: TopicFilter
    public var qos: QoS
    /// The most bytes that wait: payloads, topics and ``OutboxPolicy/rowOverhead`` for each message. The oldest go
    /// first.
    public var limitBytes: Int
    /// The most messages that wait.
    public var limitMessages: Int
    /// Messages that have waited longer are dropped, as soon as that is certain (``WatchedClock``).
    public var maxAge: Duration
    /// Whether messages are taken that the broker had retained from before the subscription. It sends them whenever
    /// the agent subscribes again.
    public var takesRetained: Bool

    public init(
        name: String, filter: TopicFilter, qos: QoS = .atLeastOnce, limitBytes: Int = 16 << 20,
        limitMessages: Int = 10_000, maxAge: Duration = .seconds(30 * 86_400), takesRetained: Bool = false
    ) {
        self.name = name
        self.filter = filter
        self.qos = qos
        self.limitBytes = limitBytes
        self.limitMessages = limitMessages
        self.maxAge = maxAge
        self.takesRetained = takesRetained
    }

    func wants(_ message: IncomingMessage) -> Bool {
        wants(messageTo: message.topic, retained: message.retained)
    }

    func wants(messageTo topic: String, retained: Bool) -> Bool {
        (takesRetained || !retained) && filter.matches(topic)
    }
}
