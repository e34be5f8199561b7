import AgentCore
import Groundwork
import Proximity

/// Why the session is not offered to devices nearby, and what became of the record of it.
package enum SharingEvent: ReportedEvent {
    /// `nil` if there is no automatic retry.
    case failed(any Error, retryAfter: Duration?)
    /// A record of consent could not be kept.
    case auditFailed(AgentError)

    package static let meanings = [
        "proximity.audit-failed": "the device that was let in could not be recorded",
        "proximity.sharing-failed": "the session cannot be offered to devices nearby",
    ]

    package var report: EventReport {
        switch self {
        case .failed(let error, let delay):
            EventReport(
                "proximity.sharing-failed", error: error,
                delay.map { ["retrySeconds": .integer($0.components.seconds)] } ?? [:], raises: .sharing)
        case .auditFailed(let error): EventReport("proximity.audit-failed", error: error)
        }
    }
}
