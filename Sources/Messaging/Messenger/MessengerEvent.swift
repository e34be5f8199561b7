import Groundwork

/// Something that happened to the connection.
public enum MessengerEvent: Sendable, Equatable {
    case connecting(BrokerAddress, attempt: Int)
    /// - Parameter sessionPresent: whether the broker still had the session, with what came in meanwhile.
    case connected(BrokerAddress, sessionPresent: Bool)
    /// The broker rejects the user name and password, or this client (CONNACK 4 and 5): the token behind the
    /// credentials is no longer good.
    case refused(BrokerRefusal)
    /// An attempt failed or a connection ended; the next attempt is made after the delay.
    case failed(MessagingError, retryAfter: Duration)
    /// The connection was ended from this side.
    case disconnected(BrokerAddress)
    case subscriptionRefused(TopicFilter)
}

extension MessengerEvent: ReportedEvent {
    public var report: EventReport {
        switch self {
        case .connecting(let broker, let attempt):
            EventReport(
                "broker.connecting", .routine,
                "connecting to broker \(broker)\(attempt > 1 ? ", attempt \(attempt)" : "")",
                ["broker": .string(broker.description), "attempt": .integer(Int64(attempt))])
        case .connected(let broker, let sessionPresent):
            EventReport(
                "broker.connected", .notable, "connected to broker \(broker)",
                ["broker": .string(broker.description), "sessionPresent": .bool(sessionPresent)])
        // Routine, because the failure that follows reports the same as trouble.
        case .refused(let refusal):
            EventReport("broker.refused", .routine, "the broker refused, so the token is dropped: \(refusal)")
        case .failed(let error, let delay):
            EventReport("broker.failed", error: error, ["retrySeconds": .integer(delay.components.seconds)])
        case .disconnected(let broker):
            EventReport(
                "broker.disconnected", .notable, "disconnected from broker \(broker)",
                ["broker": .string(broker.description)])
        case .subscriptionRefused(let filter):
            EventReport(
                "broker.subscription-refused", .trouble, "the broker refuses the subscription to \(filter)",
                ["filter": .string(filter.text)])
        }
    }
}
