/// What happened on a connection.
struct ConnectionNews: Sendable {
    /// Set once the broker has accepted the connection: whether it had kept the session.
    var opened: Bool?
    /// This side's address, known once it is open: 4 or 16 bytes.
    var localAddress: [UInt8]?
    /// Messages that the broker has acknowledged.
    var acknowledged: [Int64] = []
    /// Messages that the client library rejects.
    var unsendable: [Int64] = []
    /// What the broker answered about subscriptions, in this order.
    var answers: [(filter: TopicFilter, answer: SubscriptionAnswer)] = []
    /// The broker has acknowledged something on this connection: it accepts messages, and its answers arrive.
    var isProven = false
    /// Why nothing can be sent any more.
    var outboxFault: MessagingError?
    var ending: ConnectionEnding?
}

/// A broker's answer to what was asked of it about a subscription.
enum SubscriptionAnswer: Sendable {
    case granted
    case refused
    /// It is ended, as was asked.
    case ended
}

enum ConnectionEnding: Sendable, Equatable {
    /// Closed on request.
    case closed
    /// - Parameter loss: set if the broker had accepted the connection.
    case failed(MessagingError, loss: ConnectionLoss?)
}

/// The messages in flight when a connection was lost, and how it was lost.
struct ConnectionLoss: Sendable, Equatable {
    enum Cause: Sendable, Equatable {
        /// The broker closed it, or so it appears from here.
        case hangUp
        /// The peer vanished without closing.
        case silence
    }

    var cause: Cause
    /// The messages that were sent and not acknowledged, in the order they were sent.
    var underWay: [Int64]
    /// Whether the broker had acknowledged something else on the connection.
    var isProven = true
}
