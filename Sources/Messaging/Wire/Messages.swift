import FoundationEssentials

/// A message on its way to the broker.
public struct OutgoingMessage: Sendable, Equatable {
    /// What happens to the message when the outbox is full.
    public enum Kind: Int, Sendable {
        /// A reading: the oldest ones make room for new ones.
        case telemetry = 0
        /// Published by a program on purpose: kept until it is sent or too old; refused when there is no room.
        case explicit = 1
    }

    public var topic: Topic
    public var payload: [UInt8]
    public var qos: QoS
    /// Whether the broker keeps it for later subscribers.
    public var retain: Bool
    public var kind: Kind
    /// The user whose program published it, for that user's share of the outbox; `nil` for the agent itself and for
    /// users without a limit.
    public var publisher: UInt32?

    public init(
        topic: Topic, payload: [UInt8], qos: QoS = .atLeastOnce, retain: Bool = false, kind: Kind = .explicit,
        publisher: UInt32? = nil
    ) {
        self.topic = topic
        self.payload = payload
        self.qos = qos
        self.retain = retain
        self.kind = kind
        self.publisher = publisher
    }
}

/// A message that the broker sent.
public struct IncomingMessage: Sendable {
    public var topic: String
    public var payload: [UInt8]
    public var qos: QoS
    /// Whether the broker had retained it from before the subscription.
    public var retained: Bool
    public var receivedAt: Date
    /// The place in the order in which the broker's messages arrived, from 1; 0 before it has one.
    public var number = 0
    /// Whether there were several subscriptions when it arrived.
    public var isShared = false

    public init(topic: String, payload: [UInt8], qos: QoS, retained: Bool, receivedAt: Date) {
        self.topic = topic
        self.payload = payload
        self.qos = qos
        self.retained = retained
        self.receivedAt = receivedAt
    }

    /// The payload decoded as an envelope; `nil` if it is not one. Decoded at every access.
    public var envelope: Envelope? { Envelope(decoding: payload) }

    /// What the sender sent: the payload of the envelope, if there is one.
    public var content: [UInt8] { envelope?.payload ?? payload }
}
