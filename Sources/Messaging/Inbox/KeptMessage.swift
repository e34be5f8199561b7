import FoundationEssentials

/// A message in an inbox.
public struct KeptMessage: Sendable {
    /// Ascending in the order of arrival, never used again.
    public let id: Int64
    public let message: IncomingMessage
    /// How often an action was begun with it.
    public let attempts: Int
}

/// What an inbox holds.
public struct InboxStatus: Sendable, Equatable {
    public var name: String
    /// `nil` for an inbox that the settings no longer have.
    public var filter: TopicFilter?
    /// Whether it was added while the agent ran, and is not in the settings.
    public var isAdded = false
    /// Unacknowledged messages; without ``dead``.
    public var unread = 0
    /// Messages that an action has given up.
    public var dead = 0
    /// What all of them take.
    public var bytes = 0
    /// Messages that were dropped, ever.
    public var dropped = 0
    /// The oldest and the newest message that wait.
    public var first: Int64?
    public var last: Int64?
    public var oldest: Date? { oldestStamp?.time }
    var oldestStamp: MessageStamp?
}
