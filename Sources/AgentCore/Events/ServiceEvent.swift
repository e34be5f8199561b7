import Groundwork

/// What happens to the agent's own parts.
package enum ServiceEvent: ReportedEvent {
    /// A part of the agent failed, and restarts after the delay.
    case failed(String, any Error, retryAfter: Duration)

    package static let meanings = [
        "agent.service-failed": "a part of the agent failed and is being restarted"
    ]

    package static var details: [String: Schema] { ["service": .string("the part of the agent that is restarted")] }

    package var report: EventReport {
        switch self {
        case .failed(let name, let error, let delay):
            EventReport(
                "agent.service-failed", error: error,
                ["service": .string(name), "retrySeconds": .integer(delay.components.seconds)])
        }
    }
}
