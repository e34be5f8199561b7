public import Groundwork

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
    public static let meanings = [
        "broker.connecting": "the agent connects to the broker",
        "broker.connected": "the broker has accepted the connection; what waits is sent",
        "broker.disconnected": "the agent ended the connection to the broker",
        "broker.failed": "the connection to the broker was lost or could not be made; it is tried again",
        "broker.refused": "the broker did not accept the access token; a new one is requested",
        "broker.subscription-refused": "the broker does not let this device read these topics",
    ]

    public static var details: [String: Schema] {
        [
            "broker": .string("host:port"),
            "attempt": .integer("number of the attempt since the last connection, from 1"),
            "sessionPresent": .boolean("whether the broker kept the session"),
            "filter": .string("filter of a refused subscription"),
        ]
    }

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
                ["broker": .string(broker.description), "sessionPresent": .bool(sessionPresent)], ends: [.broker])
        // Routine, because the failure that follows reports the same as trouble.
        case .refused(let refusal):
            EventReport("broker.refused", .routine, "the broker refused, so the token is dropped: \(refusal)")
        case .failed(let error, let delay):
            EventReport(
                "broker.failed", error: error, ["retrySeconds": .integer(delay.components.seconds)], raises: .broker)
        case .disconnected(let broker):
            EventReport(
                "broker.disconnected", .notable, "disconnected from broker \(broker)",
                ["broker": .string(broker.description)])
        case .subscriptionRefused(let filter):
            EventReport(
                "broker.subscription-refused", .trouble, "the broker refuses the subscription to \(filter)",
                ["filter": .string(filter.text)], raises: .broker)
        }
    }
}

extension Trouble {
    /// The connection to the board's broker.
    public static let broker = Trouble("broker")
}
