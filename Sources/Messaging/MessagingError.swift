import Cryptography
import Groundwork
import Storage

/// An error between this program and a broker.
public enum MessagingError: Explained, Equatable {
    case invalidTopic(String, TopicFault)
    case invalidFilter(String, TopicFault)
    /// Cannot be part of a topic, and so is no identifier.
    case invalidReceiver(String, TopicFault)
    case invalidContentType(String)
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
    case noSuchInbox(String)
    /// No message has the number that was to be acknowledged; `newest` is that of the newest that waits.
    case messageNotThere(Int64, inbox: String, newest: Int64?)
    /// There is another one of that name.
    case inboxExists(String)
    /// There are as many added ones as there may be.
    case tooManyInboxes(limit: Int)
    /// So many were removed that the broker has not been told of.
    case tooManyFormerInboxes(limit: Int)
    /// The messages of the inboxes could not be written or read.
    case inboxUnusable(StorageError)
    /// There are no credentials to connect with; the explanation is that of the credentials' provider.
    case credentialsUnavailable(Explanation)
    case cannotConnect(BrokerAddress, reason: String)
    /// The broker's certificate was not trusted.
    case tlsRefused(BrokerAddress, TLSRefusal)
    /// TLS failed for another reason, such as the broker rejecting the client certificate. The remedy is that of our
    /// key.
    case tlsFailed(BrokerAddress, reason: String, remedy: String? = nil)
    case connectTimeout(BrokerAddress, Duration)
    /// The settings or the environment name a proxy that is none.
    case proxyUnusable(reason: String)
    /// The proxy on the way to the broker does not answer, or not as a proxy does.
    case proxyFailed(proxy: String, BrokerAddress, reason: String)
    /// `status` is the proxy's answer to CONNECT (RFC 9110 section 9.3.6).
    case proxyRefused(proxy: String, BrokerAddress, status: Int)
    /// `status` is the answer to the request for a WebSocket (RFC 6455 section 4.1).
    case webSocketRefused(BrokerAddress, status: Int)
    case webSocketFailed(BrokerAddress, reason: String)
    case refused(BrokerAddress, BrokerRefusal)
    case connectionLost(BrokerAddress, reason: String)
    /// Another client with this one's identifier ends its connections, as it appears after this many in a row.
    case rival(BrokerAddress, count: Int)
    /// The broker closed this many connections in a row at their first messages.
    case greetingRefused(BrokerAddress, count: Int)
    case subscriptionRefused(TopicFilter)
    /// The connection keeps no messages, and the broker did not confirm this one. It was not accepted.
    case notConfirmed
    /// The connection is that of the logged-in user, and there is none.
    case userRequired
    /// The user's name cannot be part of a topic; `nil` if the gateway has not told it.
    case userUnusable(name: String?)
    /// The settings say that users have no connection.
    case userConnectionOff
    /// The messenger is already running; only one run at a time is possible.
    case alreadyRunning

    public var explanation: Explanation {
        switch self {
        case .invalidTopic(let topic, let fault):
            Explanation(
                "messaging.invalid-topic", .invalidInput, "\"\(topic)\" is not a topic: \(fault)",
                remedy: Self.topicRules, gateway: .parameter)
        case .invalidFilter(let filter, let fault):
            Explanation(
                "messaging.invalid-filter", .invalidInput, "\"\(filter)\" is not a topic filter: \(fault)",
                remedy: Self.topicRules, gateway: .parameter)
        case .invalidReceiver(let id, let fault):
            Explanation(
                "messaging.invalid-receiver", .invalidInput,
                "\"\(id)\" is not the identifier of a receiver: \(fault)",
                remedy: "give a user's name, a device's identifier or a group's identifier, as the gateway has it",
                gateway: GatewayNumbers(.messaging, 500_002))
        case .invalidContentType(let type):
            Explanation(
                "messaging.invalid-content-type", .invalidInput, "\"\(type)\" is not a content type",
                remedy: "write a MIME type, such as text/plain or image/png",
                gateway: GatewayNumbers(.messaging, 500_001))
        case .payloadTooLarge(let bytes, let limit):
            Explanation(
                "messaging.payload-too-large", .tooLarge,
                "the payload has \(bytes) bytes, more than the \(limit) allowed",
                remedy: "send less at once, or raise the limit")
        case .emptyPayload:
            Explanation(
                "messaging.empty-payload", .invalidInput, "a message in an envelope needs a payload",
                gateway: .parameter)
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
                "messaging.outbox-unusable", Self.kind(of: error), "the outbox cannot be used: \(error.message)",
                remedy: error.remedy,
                meaning: "the waiting messages could not be read or written; no message was accepted",
                cause: error.code)
        case .outboxClosed(let path):
            Explanation(
                "messaging.outbox-closed", .temporary, "the outbox \(path) is closed",
                remedy: "the gateway was switched or the program is ending; try again")
        case .noSuchInbox(let name):
            Explanation(
                "messaging.no-such-inbox", .notFound, "there is no inbox \"\(name)\"",
                remedy: "list them with: latchkey inbox; [[inbox]] in the settings and latchkey inbox add make them")
        case .messageNotThere(let id, let name, let newest):
            Explanation(
                "messaging.message-not-there", .notFound,
                "inbox \(name) has no message \(id), "
                    + (newest.map { "the newest that waits is \($0)" } ?? "and none waits")
                    + "; nothing was acknowledged",
                remedy: "give the number of a message that was read: latchkey inbox read \(name)")
        case .inboxExists(let name):
            Explanation(
                "messaging.inbox-exists", .conflict,
                "an inbox \(name) already exists, with a different filter or limits",
                remedy: "use another name, or remove it first: latchkey inbox remove \(name)")
        case .tooManyInboxes(let limit):
            Explanation(
                "messaging.too-many-inboxes", .conflict, "\(limit) inboxes have already been added",
                remedy: "remove one: latchkey inbox")
        case .tooManyFormerInboxes(let limit):
            Explanation(
                "messaging.too-many-former-inboxes", .conflict,
                "\(limit) inboxes were removed, but the broker has not ended their subscriptions yet",
                remedy: "add it when there is a connection to the broker: latchkey status")
        case .inboxUnusable(let error):
            Explanation(
                "messaging.inbox-unusable", Self.kind(of: error), "the inbox cannot be used: \(error.message)",
                remedy: error.remedy,
                meaning:
                    "messages could not be stored or read; the broker keeps those not stored and sends them again",
                cause: error.code)
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
                remedy: Self.wayToBroker, gateway: .connection)
        case .tlsRefused(let broker, let refusal):
            Explanation(
                "messaging.tls-refused", .unreachable, "broker \(broker) is not trusted: \(refusal)",
                remedy: refusal.remedy
                    ?? "check the clock, and that the gateway's configuration has the broker's authority or pin",
                meaning: "the broker could not be verified as the expected one", gateway: .connection)
        case .tlsFailed(let broker, let reason, let remedy):
            Explanation(
                "messaging.tls-failed", .unreachable, "TLS with broker \(broker) failed: \(reason)",
                remedy: remedy ?? Self.wayThroughTLS(reason), gateway: .connection)
        case .connectTimeout(let broker, let limit):
            Explanation(
                "messaging.connect-timeout", .unreachable,
                "broker \(broker) did not answer within \(limit.components.seconds) s",
                remedy: Self.wayToBroker
                    + "; a port without TLS does not answer to TLS, nor does a broker that takes MQTT 5 alone",
                gateway: .connection)
        case .proxyUnusable(let reason):
            Explanation(
                "messaging.proxy-unusable", .configuration, "the proxy for MQTT cannot be used: \(reason)",
                remedy: Self.wayToProxy, gateway: .connection)
        case .proxyFailed(let proxy, let broker, let reason):
            Explanation(
                "messaging.proxy-failed", .unreachable,
                "cannot connect to broker \(broker) through the proxy \(proxy): \(reason)",
                remedy: Self.wayToProxy, gateway: .connection)
        case .proxyRefused(let proxy, let broker, let status):
            Explanation(
                "messaging.proxy-refused", .unreachable,
                "the proxy \(proxy) does not connect to broker \(broker): it answered CONNECT with status \(status)",
                remedy: status == 407 || status == 401
                    ? "give the proxy's user and password: in https_proxy of the agent's environment, or with "
                        + "broker.proxy and broker.proxy_password_file"
                    : "ask its administrator to allow this host and port; many allow port 443 alone",
                gateway: .connection)
        case .webSocketRefused(let broker, let status):
            Explanation(
                "messaging.websocket-refused", .refused,
                "broker \(broker) refuses MQTT over WebSocket: it answered with status \(status)",
                remedy: "check broker.websocket_path and the port; many brokers have \"/mqtt\"", gateway: .connection)
        case .webSocketFailed(let broker, let reason):
            Explanation(
                "messaging.websocket-failed", .unreachable, "WebSocket with broker \(broker) failed: \(reason)",
                remedy: "check that the port is that of MQTT over WebSocket, and broker.websocket_path",
                gateway: .connection)
        case .refused(let broker, let refusal):
            Explanation(
                "messaging.refused", .refused, "broker \(broker) refuses the connection: \(refusal)",
                remedy: refusal.concernsCredentials
                    ? "the agent requests a new token; if this persists, check the registration" : nil,
                gateway: .connection)
        case .connectionLost(let broker, let reason):
            Explanation(
                "messaging.connection-lost", .unreachable,
                "the connection to broker \(broker) was lost: \(reason)",
                remedy: "wait; the agent reconnects on its own. If the connection keeps getting lost, check that "
                    + "the port is that of MQTT over TLS, the device certificate, and the broker's log")
        case .rival(let broker, let count):
            Explanation(
                "messaging.rival", .conflict,
                "broker \(broker) ended \(count) connections in a row within seconds, as it does when another client "
                    + "has the same identifier: a second board probably uses this one's identity",
                remedy: "find the other one, such as a board with a copy of this card, and enroll it anew: "
                    + "latchkey reset there, then enroll",
                gateway: .connection)
        case .greetingRefused(let broker, let count):
            Explanation(
                "messaging.greeting-refused", .refused,
                "broker \(broker) closed \(count) connections in a row before it answered",
                remedy: "see the broker's log. If it accepts no retained messages or wills, set broker.presence to "
                    + "\"unretained\" or \"off\"; otherwise check that the port is that of MQTT over TLS, the device "
                    + "certificate, and broker.alpn",
                gateway: .connection)
        case .subscriptionRefused(let filter):
            Explanation(
                "messaging.subscription-refused", .refused, "the broker refuses the subscription to \(filter)",
                remedy: "check what this client may subscribe to at the broker",
                gateway: GatewayNumbers(.messaging, 511_002))
        case .notConfirmed:
            Explanation(
                "messaging.not-confirmed", .temporary, "the broker did not confirm the message",
                remedy: "send it again; it was not accepted, but the broker may have it nevertheless",
                meaning: "a message in the user's name is not stored here: only the broker can accept it")
        case .userRequired:
            Explanation(
                "messaging.user-required", .conflict, "no user is logged in, so there is no connection of a user",
                remedy: "log in: latchkey login", gateway: GatewayNumbers(.messaging, 530_004))
        case .userUnusable(let name):
            Explanation(
                "messaging.user-unusable", .conflict,
                name.map { "\"\($0)\" cannot be a user at the broker: it would not be one level of a topic" }
                    ?? "the gateway has not given the user's name, which the topics require",
                remedy: "log in as a user whose name has no slash, + or #",
                gateway: GatewayNumbers(.messaging, 530_003))
        case .userConnectionOff:
            Explanation(
                "messaging.user-connection-off", .configuration, "the logged-in user has no connection to the broker",
                remedy: "set broker.user_connection to true")
        case .alreadyRunning:
            Explanation("messaging.already-running", .internal, "the connection to the broker is already running")
        }
    }

    /// - Parameter reason: OpenSSL's, such as `tlsv13 alert certificate required`.
    private static func wayThroughTLS(_ reason: String) -> String {
        if reason.contains("application protocol") {
            return "name a protocol that the broker speaks, such as alpn = \"mqtt\""
        }
        if reason.contains("certificate required") || reason.contains("bad certificate") {
            return "the broker demands a client certificate that it knows: at the gateway's broker check the device "
                + "certificate (latchkey doctor); at another give the account one (latchkey accounts add --certificate)"
        }
        return "check that the port is that of MQTT over TLS, the device certificate, and the broker's log"
    }

    private static let topicRules = "see MQTT 3.1.1 section 4.7 for what a topic may be"
    private static let outboxRoom = "check the connection to the broker, or raise outbox.limit_bytes"
    private static let wayToProxy =
        "check https_proxy and no_proxy in the environment of the agent (systemctl edit latchkey), or broker.proxy"
    private static let wayToBroker = "check host, port, name resolution and firewall"
}

extension MessagingError {
    /// Of an error that keeps messages from being written: a disk that is full is a kind of its own.
    private static func kind(of error: StorageError) -> ExplanationKind {
        error.explanation.kind == .full ? .full : .unavailable
    }
}

/// The numbers of several errors (MAG 9.5).
extension GatewayNumbers {
    fileprivate static let parameter = GatewayNumbers(.messaging, 500_003)
    fileprivate static let connection = GatewayNumbers(.messaging, 511_001)
}
