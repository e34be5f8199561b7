public import FoundationEssentials
public import Groundwork

/// Something that happened in the agent's life, for `latchkey status --follow`, programs and the log.
public struct AgentEvent: Sendable, Equatable {
    public let time: Date
    /// Stable and for programs: `room.what-happened`.
    public let name: String
    /// Whether a person should look.
    public let severity: Severity
    /// What it happened to; nothing secret.
    public let details: [String: JSON]

    public enum Severity: Sendable, Equatable { case routine, notable, trouble }

    public init(_ name: String, _ severity: Severity = .routine, at time: Date, _ details: [String: JSON] = [:]) {
        self.time = time
        self.name = name
        self.severity = severity
        self.details = details
    }

    func adding(_ key: String, _ value: JSON) -> AgentEvent {
        AgentEvent(name, severity, at: time, details.merging([key: value], uniquingKeysWith: { _, new in new }))
    }

    /// Whether what a trouble told of is over with this.
    func ends(_ trouble: AgentEvent) -> Bool {
        switch name {
        // Whoever is connected has a registration and a token that are good.
        case "broker.connected": trouble.name.hasPrefix("broker.") || Self.endedByToken.contains(trouble.name)
        case "gateway.token-did-arrive": Self.endedByToken.contains(trouble.name)
        case "gateway.device-did-renew": trouble.name == "gateway.device-did-fail-to-renew"
        // Another identity, or none: what went wrong with the former one is over.
        case "gateway.did-switch", "gateway.device-did-register", "gateway.device-did-deregister",
            "gateway.device-did-reset-locally":
            trouble.name.hasPrefix("gateway.") || trouble.name.hasPrefix("broker.")
        case "proximity.sharing-started": ["proximity.sharing-failed", "proximity.sharing-interrupted"].contains(trouble.name)
        case "proximity.sharing-stopped": trouble.name == "proximity.sharing-interrupted"
        case "proximity.button-recovered": trouble.name == "proximity.button-fault"
        default: false
        }
    }

    private static let endedByToken: Set = [
        "gateway.token-did-fail", "gateway.client-did-fail-to-initialize", "gateway.device-did-fail-to-register", "gateway.not-ready",
    ]

    /// For how long a trouble is shown that nothing ends, such as messages that were dropped, in seconds.
    static let shownSeconds: TimeInterval = 86_400

    public var json: JSON {
        .object(details.merging(
            ["event": .string(name), "time": .string(time.formatted(.iso8601))], uniquingKeysWith: { _, own in own }))
    }
}

extension AgentEvent {
    /// An error as an event: with what is said of it everywhere else.
    static func failure(_ name: String, _ error: any Error, at time: Date) -> AgentEvent {
        AgentEvent(name, .trouble, at: time, error.explanation)
    }
}

extension Error {
    /// All that is said of an error, as members of an event or of a part of the status.
    var explanation: [String: JSON] { Explanation(of: self).members }
}
