public import FoundationEssentials

/// A message that is no longer sent, because the broker closed the connection each time it was sent alone. It is kept
/// until it is sent again or removed, or is older than ``OutboxPolicy/maxAge``.
public struct DeadLetter: Sendable, Equatable {
    /// The number that the message had in the outbox.
    public var id: Int64
    public var topic: Topic
    /// Length of the payload, in bytes.
    public var bytes: Int
    public var acceptedAt: Date { stamp.time }
    var stamp: MessageStamp
    public var diedAt: Date
    /// Why it is no longer sent.
    public var reason: String
}
