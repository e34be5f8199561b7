import Cryptography
import Groundwork
import Storage

/// An error between this program and a broker.
public enum MessagingError: Explained, Equatable {
    case invalidTopic(String, TopicFault)
    case invalidFilter(String, TopicFault)
    case payloadTooLarge(bytes: Int, limit: Int)
    /// An envelope needs a payload (MAG 9.3).
    case emptyPayload
    /// There is no room, and no telemetry that could be dropped to make some. The message was not accepted.
    case outboxFull(limitBytes: Int)
    /// This user's waiting messages already take all the room that one user may have. The message was not accepted.
    case outboxShareFull(limitBytes: Int)
    case noSuchDeadLetter(Int64)
    /// The outbox could not be written or read. The message was not accepted.
    case outboxUnusable(StorageError)
    case outboxClosed(path: String)
    /// There are no credentials to connect with; the explanation is that of the credentials' provider.
    case credentialsUnavailable(Explanation)
    case cannotConnect(BrokerAddress, reason: String)
    /// The broker's certificate was not trusted.
    case tlsRefused(BrokerAddress, TLSRefusal)
    /// TLS failed for another reason, such as the broker rejecting the client certificate.
    case tlsFailed(BrokerAddress, reason: String)
    case connectTimeout(BrokerAddress, Duration)
    case refused(BrokerAddress, BrokerRefusal)
    case connectionLost(BrokerAddress, reason: String)
    case subscriptionRefused(TopicFilter)
    /// The messenger is already running; only one run at a time is possible.
    case alreadyRunning

    public var explanation: Explanation {
        switch self {
        case .invalidTopic(let topic, let fault):
            Explanation(
                "messaging.invalid-topic", .invalidInput, "\"\(topic)\" is not a topic: \(fault)",
                remedy: Self.topicRules)
        case .invalidFilter(let filter, let fault):
            Explanation(
                "messaging.invalid-filter", .invalidInput, "\"\(filter)\" is not a topic filter: \(fault)",
                remedy: Self.topicRules)
        case .payloadTooLarge(let bytes, let limit):
            Explanation(
                "messaging.payload-too-large", .tooLarge,
                "the payload has \(bytes) bytes, more than the \(limit) allowed",
                remedy: "send less at once, or raise the limit")
        case .emptyPayload:
            Explanation("messaging.empty-payload", .invalidInput, "a message in an envelope needs a payload")
        case .outboxFull(let limit):
            Explanation(
                "messaging.outbox-full", .full, "the outbox is full: \(limit) bytes are waiting to be sent",
                remedy: Self.outboxRoom)
        case .outboxShareFull(let limit):
            Explanation(
                "messaging.outbox-share-full", .full,
                "your messages fill your share of the outbox: \(limit) bytes are waiting to be sent",
                remedy: Self.outboxRoom)
        case .noSuchDeadLetter(let id):
            Explanation(
                "messaging.no-such-dead-letter", .notFound, "there is no dead letter \(id)",
                remedy: "list them with: latchkey dead-letters")
        case .outboxUnusable(let error):
            Explanation(
                "messaging.outbox-unusable", .unavailable, "the outbox cannot be used: \(error.message)",
                remedy: error.remedy,
                meaning: "the waiting messages could not be read or written; no message was accepted",
                cause: error.code)
        case .outboxClosed(let path):
            Explanation(
                "messaging.outbox-closed", .temporary, "the outbox \(path) is closed",
                remedy: "the gateway was switched or the program is ending; try again")
        case .credentialsUnavailable(let why):
            Explanation(
                "messaging.credentials-unavailable", .temporary,
                "there are no credentials for the broker: \(why.message)",
                remedy: why.remedy ?? "check the registration at the gateway",
                meaning:
                    "the board could not get the credentials it uses to log in to the broker; the cause has its own "
                    + "error code",
                cause: why.code, gateway: why.gateway)
        case .cannotConnect(let broker, let reason):
            Explanation(
                "messaging.cannot-connect", .unreachable, "cannot connect to broker \(broker): \(reason)",
                remedy: Self.wayToBroker)
        case .tlsRefused(let broker, let refusal):
            Explanation(
                "messaging.tls-refused", .unreachable, "broker \(broker) is not trusted: \(refusal)",
                remedy: "check the clock, and that the gateway's configuration has the broker's authority or pin",
                meaning: "the broker could not prove that it is the expected one")
        case .tlsFailed(let broker, let reason):
            Explanation(
                "messaging.tls-failed", .unreachable, "TLS with broker \(broker) failed: \(reason)",
                remedy: "check that the port is that of MQTT over TLS, the device certificate, and the broker's log")
        case .connectTimeout(let broker, let limit):
            Explanation(
                "messaging.connect-timeout", .unreachable,
                "broker \(broker) did not answer within \(limit.components.seconds) s", remedy: Self.wayToBroker)
        case .refused(let broker, let refusal):
            Explanation(
                "messaging.refused", .refused, "broker \(broker) refuses the connection: \(refusal)",
                remedy: refusal.concernsCredentials
                    ? "the agent requests a new token; if this persists, check the registration" : nil)
        case .connectionLost(let broker, let reason):
            Explanation(
                "messaging.connection-lost", .unreachable,
                "the connection to broker \(broker) was lost: \(reason)",
                remedy: "wait; the agent reconnects on its own. If the connection keeps getting lost, check that "
                    + "the port is that of MQTT over TLS, the device certificate, and the broker's log")
        case .subscriptionRefused(let filter):
            Explanation(
                "messaging.subscription-refused", .refused, "the broker refuses the subscription to \(filter)",
                remedy: "check what this client may subscribe to at the broker")
        case .alreadyRunning:
            Explanation("messaging.already-running", .internal, "the connection to the broker is already running")
        }
    }

    private static let topicRules = "see MQTT 3.1.1 section 4.7 for what a topic may be"
    private static let outboxRoom = "check the connection to the broker, or raise outbox.limit_bytes"
    private static let wayToBroker = "check host, port, name resolution and firewall"

    public static var examples: [MessagingError] {
        let broker = BrokerAddress(host: "HOST")
        let others: [MessagingError] = [
            .invalidTopic("TOPIC", .wildcard), .invalidFilter("FILTER", .misplacedWildcard),
            .payloadTooLarge(bytes: 2_000_000, limit: 262_144), .emptyPayload, .outboxFull(limitBytes: 67_108_864),
            .outboxShareFull(limitBytes: 33_554_432), .noSuchDeadLetter(7), .outboxUnusable(.full(path: "PATH")),
            .outboxClosed(path: "PATH"), .credentialsUnavailable(Explanation("CAUSE", .unreachable, "REASON")),
            .cannotConnect(broker, reason: "REASON"), .tlsRefused(broker, .pinMismatch),
            .tlsFailed(broker, reason: "REASON"),
            .connectTimeout(broker, .seconds(30)), .refused(broker, .badCredentials),
            .connectionLost(broker, reason: "REASON"),
            .alreadyRunning,
        ]
        let refused = ["FILTER"].compactMap { try? TopicFilter($0) }.map(MessagingError.subscriptionRefused)
        return others + refused
    }
}
