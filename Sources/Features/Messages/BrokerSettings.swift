import AgentCore
import Groundwork

/// Where the broker is, and how the connection to it is kept.
package struct BrokerSettings: TypedValue {
    package init() {}

    /// The account whose broker has the board's messages, and to which the outbox belongs. Empty: the one that was made
    /// for this at a broker, else the default one at its gateway.
    package var account = ""
    /// Empty: the gateway's host.
    package var host = ""
    /// 0: what the gateway's configuration announces (`mas.mqtt-port`), else 8883.
    package var port = 0
    /// In seconds; the broker waits one and a half times as long before it gives up a silent connection.
    package var keepAliveSeconds = 60
    /// The protocol that TLS names to the server (ALPN, RFC 7301); empty: none.
    package var alpn = ""
    /// Over WebSocket, through a proxy, or neither.
    package var way = BrokerWaySettings()
    /// Below the device's own topics: `online` or `offline`.
    package var statusTopic = "status"
    package var presence = Presence.retained
    /// The first level of all topics after the gateway's prefix.
    package var topicVersion = "2.0"
    /// The most messages that await the broker's acknowledgement at once.
    package var window = 100
    /// The client identifier, user name and password of the board's own connection; names in braces stand for what the
    /// registration knows (``LoginTemplate``).
    package var clientID = "{mag-identifier}::{client}"
    package var userName = "{device}"
    package var password = "{token}"
    /// Whether the logged-in user has a connection too.
    package var userConnection = true
    /// Whether the broker's reports of errors are subscribed to (MAG 9.2).
    package var reportsErrors = true

    /// How the board says at the broker whether it is there.
    package enum Presence: String, Sendable, CaseIterable {
        case retained
        /// For brokers that take no retained messages.
        case unretained
        /// Not at all, not even by a last will.
        case off
    }
}

/// How much may wait for the broker, and for how long.
package struct OutboxSettings: TypedValue {
    package init() {}

    /// Beyond this the oldest telemetry is dropped, and messages published explicitly are refused.
    package var limitBytes = 64 << 20
    /// Older messages are dropped.
    package var maxAgeHours = 24 * 30
    /// The largest payload that is accepted, in bytes.
    package var payloadLimitBytes = 256 << 10
    /// The largest payload that a request to the local API can hold: 1 MiB of JSON with the payload in base64.
    package static let greatestPayload = 700 << 10
    /// Whether what the broker does not have is written to the disk; otherwise it is in memory and lost with the
    /// process.
    package var durable = true
    /// How long the broker may take to acknowledge a message before it is written to the disk; 0: written at once.
    package var spillMilliseconds = 250
    /// How long readings may stay in memory while there is no broker; 0: written at once.
    package var flushSeconds = 5
}

/// How readings are published.
package struct TelemetrySettings: TypedValue {
    package init() {}

    /// Whether readings are published at all.
    package var enabled = true
    /// The topic, below the device's own topics.
    package var topic = "telemetry"
    /// Quality of service, 0 to 2.
    package var qos = 1
    /// The most bytes that the board may send and receive in a month before readings are held back; 0: no limit.
    package var monthlyBytes = 0
    /// The interfaces whose bytes are counted; empty: those that lead out.
    package var interfaces: [String] = []
}

extension AgentConfiguration {
    package var broker: BrokerSettings {
        get { self[BrokerSettings.self] }
        set { self[BrokerSettings.self] = newValue }
    }
}

extension AgentConfiguration {
    package var outbox: OutboxSettings {
        get { self[OutboxSettings.self] }
        set { self[OutboxSettings.self] = newValue }
    }
}

extension AgentConfiguration {
    package var telemetry: TelemetrySettings {
        get { self[TelemetrySettings.self] }
        set { self[TelemetrySettings.self] = newValue }
    }
}
