public import FoundationEssentials

/// A message that is no longer sent, since the broker ended the connection each time it was sent alone. It is kept until
/// somebody sends it again or removes it, or it is older than ``OutboxPolicy/maxAge``.
public struct DeadLetter: Sendable, Equatable {
    /// The number that the message had in the outbox.
    public var id: Int64
    public var topic: Topic
    /// Length of the payload, in bytes.
    public var bytes: Int
    public var acceptedAt: Date
    public var diedAt: Date
    /// Why it is no longer sent.
    public var reason: String
}
