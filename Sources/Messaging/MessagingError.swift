import Cryptography
import Groundwork
import Storage

/// What can go wrong between this program and a broker.
public enum MessagingError: Explained, Equatable {
    case invalidTopic(String, TopicFault)
    case invalidFilter(String, TopicFault)
    case payloadTooLarge(bytes: Int, limit: Int)
    /// An envelope needs a payload (gateway protocol 9.3).
    case emptyPayload
    /// No room, and no telemetry that could make some. The message was not accepted.
    case outboxFull(limitBytes: Int)
    /// The messages of this user that wait take as much as one user's may. The message was not accepted.
    case outboxShareFull(limitBytes: Int)
    case noSuchDeadLetter(Int64)
    /// The outbox could not be written or read. The message was not accepted.
    case outboxUnusable(StorageError)
    case outboxClosed(path: String)
    /// There is nothing to connect with.
    case credentialsUnavailable(reason: String)
    case cannotConnect(BrokerAddress, reason: String)
    /// The broker's certificate was not believed.
    case tlsRefused(BrokerAddress, TLSRefusal)
    /// TLS failed otherwise, such as by the broker not taking the client certificate.
    case tlsFailed(BrokerAddress, reason: String)
    case connectTimeout(BrokerAddress, Duration)
    case refused(BrokerAddress, BrokerRefusal)
    case connectionLost(BrokerAddress, reason: String)
    case subscriptionRefused(TopicFilter)
    /// The messenger runs already, and runs once at a time.
    case alreadyRunning

    public var code: String {
        switch self {
        case .invalidTopic: "messaging.invalid-topic"
        case .invalidFilter: "messaging.invalid-filter"
        case .payloadTooLarge: "messaging.payload-too-large"
        case .emptyPayload: "messaging.empty-payload"
        case .outboxFull: "messaging.outbox-full"
        case .outboxShareFull: "messaging.outbox-share-full"
        case .noSuchDeadLetter: "messaging.no-such-dead-letter"
        case .outboxUnusable: "messaging.outbox-unusable"
        case .outboxClosed: "messaging.outbox-closed"
        case .credentialsUnavailable: "messaging.credentials-unavailable"
        case .cannotConnect: "messaging.cannot-connect"
        case .tlsRefused: "messaging.tls-refused"
        case .tlsFailed: "messaging.tls-failed"
        case .connectTimeout: "messaging.connect-timeout"
        case .refused: "messaging.refused"
        case .connectionLost: "messaging.connection-lost"
        case .subscriptionRefused: "messaging.subscription-refused"
        case .alreadyRunning: "messaging.already-running"
        }
    }

    public var message: String {
        switch self {
        case .invalidTopic(let topic, let fault): "\"\(topic)\" is no topic: \(fault)"
        case .invalidFilter(let filter, let fault): "\"\(filter)\" is no topic filter: \(fault)"
        case .payloadTooLarge(let bytes, let limit): "the payload has \(bytes) bytes, more than the \(limit) allowed"
        case .emptyPayload: "a message in an envelope needs a payload"
        case .outboxFull(let limit): "the outbox is full: \(limit) bytes wait to be sent"
        case .outboxShareFull(let limit): "your messages fill your share of the outbox: \(limit) bytes wait to be sent"
        case .noSuchDeadLetter(let id): "there is no dead letter \(id)"
        case .outboxUnusable(let error): "the outbox cannot be used: \(error.message)"
        case .outboxClosed(let path): "the outbox \(path) is closed"
        case .credentialsUnavailable(let reason): "there are no credentials for the broker: \(reason)"
        case .cannotConnect(let broker, let reason): "cannot connect to broker \(broker): \(reason)"
        case .tlsRefused(let broker, let refusal): "broker \(broker) is not believed: \(refusal)"
        case .tlsFailed(let broker, let reason): "TLS with broker \(broker) failed: \(reason)"
        case .connectTimeout(let broker, let limit):
            "broker \(broker) did not answer within \(limit.components.seconds) s"
        case .refused(let broker, let refusal): "broker \(broker) refuses the connection: \(refusal)"
        case .connectionLost(let broker, let reason): "the connection to broker \(broker) was lost: \(reason)"
        case .subscriptionRefused(let filter): "the broker refuses the subscription to \(filter)"
        case .alreadyRunning: "the connection to the broker is being kept already"
        }
    }

    public var remedy: String? {
        switch self {
        case .invalidTopic, .invalidFilter: "see MQTT 3.1.1 section 4.7 for what a topic may be"
        case .payloadTooLarge: "send less at once, or raise the limit"
        case .emptyPayload, .alreadyRunning: nil
        case .outboxFull, .outboxShareFull: "check the connection to the broker, or raise outbox.limit_bytes"
        case .noSuchDeadLetter: "list them with: latchkey dead-letters"
        case .outboxUnusable(let error): error.remedy
        case .outboxClosed: "the gateway was switched or the program is ending; try again"
        case .credentialsUnavailable: "check the registration at the gateway"
        case .cannotConnect, .connectTimeout: "check host, port, name resolution and firewall"
        case .tlsRefused: "check the clock, and that the gateway's configuration has the broker's authority or pin"
        case .tlsFailed: "check that the port is that of MQTT over TLS, the device certificate, and the broker's log"
        case .refused(_, let refusal):
            refusal.concernsCredentials ? "a new token is asked for; if this stays, check the registration" : nil
        case .connectionLost:
            "wait; the connection is made again by itself. If it is lost again and again, check that the port is that of MQTT over "
                + "TLS, the device certificate, and the broker's log"
        case .subscriptionRefused: "check what this client may subscribe to at the broker"
        }
    }
}
