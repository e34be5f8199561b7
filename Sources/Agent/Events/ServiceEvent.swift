import Groundwork

/// What happens to the agent's own parts.
enum ServiceEvent: ReportedEvent {
    /// A part of the agent failed, and restarts after the delay.
    case failed(String, any Error, retryAfter: Duration)

    static let meanings = [
        "agent.service-failed": "a part of the agent failed, and is started again"
    ]

    static var details: [String: Schema] { ["service": .string("the part of the agent that is started again")] }

    var report: EventReport {
        switch self {
        case .failed(let name, let error, let delay):
            EventReport(
                "agent.service-failed", error: error,
                ["service": .string(name), "retrySeconds": .integer(delay.components.seconds)])
        }
    }
}
