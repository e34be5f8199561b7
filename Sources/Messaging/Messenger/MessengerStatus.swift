import FoundationEssentials

/// What the connection to the broker is doing.
public struct MessengerStatus: Sendable {
    public enum State: String, Sendable, CaseIterable {
        /// ``Messenger/run()`` is not running.
        case stopped
        /// Asking for credentials, or connecting with them.
        case connecting
        case connected
        /// Between two attempts.
        case waiting
    }

    public var state: State
    /// Since when ``state`` is unchanged.
    public var since: Date
    public var broker: BrokerAddress
    /// The proxy of the newest attempt, `host:port`; `nil`: none.
    public var proxy: String?
    /// Whether it is the first of several.
    public var isPreferred = true
    /// Why the first is not used.
    public var preferredError: MessagingError?
    /// Attempts since the last connection, including the present one.
    public var attempts: Int
    /// Why the last connection or attempt ended; `nil` while all is well.
    public var lastError: MessagingError?
    /// Why messages for inboxes are left to the broker; `nil` while they are kept.
    public var inboxFault: MessagingError?
    public var outbox: OutboxStatus
    /// Messages sent to the broker since the start, including repeated ones.
    public var sent: Int
    /// Messages that the broker has acknowledged since the start.
    public var acknowledged: Int
    /// Messages received since the start.
    public var received: Int
    /// Messages received that no subscription asked for.
    public var unclaimed: Int
    /// Messages received that were larger than ``MessengerSettings/payloadLimit``.
    public var oversized: Int
    /// Errors that the broker has reported since the start (MAG 9.2), and the last of them.
    public var reports: Int
    public var lastReport: BrokerReport?
}

extension MessengerStatus {
    /// How the broker is reached, such as `WebSocket through the proxy HOST:3128`.
    public var way: String {
        let kind = broker.webSocketPath == nil ? "TCP" : "WebSocket"
        return proxy.map { "\(kind) through the proxy \($0)" } ?? "\(kind), direct"
    }
}

/// An error that the broker reported.
public struct BrokerReport: Sendable, Equatable {
    /// One line each, at most 256 characters.
    public var topic: String
    public var text: String
    /// When it arrived.
    public var time: Date

    public init(topic: String, text: String, time: Date) {
        self.topic = topic
        self.text = text
        self.time = time
    }
}

/// Why a broker does not accept a connection (MQTT 3.1.1 section 3.2.2.3).
public enum BrokerRefusal: Sendable, Equatable {
    case protocolVersion
    case clientID
    case serverUnavailable
    case badCredentials
    case notAuthorized
    case other(code: Int)

    /// - Parameter code: the CONNACK return code, not 0. Brokers that refuse MQTT 3.1.1 may answer in the codes of
    ///   MQTT 5 (section 3.2.2.2).
    init(code: Int) {
        self =
            switch code {
            case 1, 0x84: .protocolVersion
            case 2, 0x85: .clientID
            case 3, 0x88, 0x89: .serverUnavailable
            case 4, 0x86: .badCredentials
            case 5, 0x87: .notAuthorized
            default: .other(code: code)
            }
    }

    /// Whether other credentials might be accepted.
    public var concernsCredentials: Bool { self == .badCredentials || self == .notAuthorized }
}

extension BrokerRefusal: CustomStringConvertible {
    public var description: String {
        switch self {
        case .protocolVersion: "it does not speak MQTT 3.1.1"
        case .clientID: "it does not accept the client identifier"
        case .serverUnavailable: "its service is unavailable"
        case .badCredentials: "the user name or password is wrong"
        case .notAuthorized: "this client is not authorized"
        case .other(let code): "it answered with code \(code)"
        }
    }
}
