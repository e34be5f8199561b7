import Gateway
import Groundwork

/// Events of the agent itself, besides those of other modules that it passes on.
enum OwnEvent: ReportedEvent {
    /// A part of the agent failed, and restarts after the delay.
    case serviceFailed(String, any Error, retryAfter: Duration)
    case vaultSetAside(path: String)
    case outboxSetAside(path: String, rescued: Int)
    /// The stored records of the active gateway cannot be used.
    case configurationUnusable(any Error)
    /// The default document cannot be used, or not by this account.
    case defaultDocumentUnusable(any Error)
    case defaultDocumentTaken(GatewayIdentity)
    /// What talks to the account's gateway starts or stops (MAG 13.2).
    case willStart, didStart, willStop, didStop
    case didFailToStart(any Error)
    case didFailToStop(any Error)
    /// Why the board is not connected to its broker.
    case notReady(any Error, retryAfter: Duration)
    /// The session cannot be offered to devices nearby; `nil` if there is no automatic retry.
    case sharingFailed(any Error, retryAfter: Duration?)
    /// An account at an OAuth server has no token any more until a person logs in.
    case logInNeeded(any Error)
    /// A record of consent could not be kept.
    case auditFailed(AgentError)

    var report: EventReport {
        switch self {
        case .serviceFailed(let name, let error, let delay):
            EventReport(
                "agent.service-failed", error: error,
                ["service": .string(name), "retrySeconds": .integer(delay.components.seconds)])
        case .vaultSetAside(let path):
            EventReport(
                "vault.set-aside", .trouble,
                "the vault was damaged and is kept as \(path); the board has to be enrolled again")
        case .outboxSetAside(let path, let rescued):
            EventReport(
                "outbox.set-aside", .trouble,
                "the outbox was damaged and is kept as \(path); \(rescued) messages could be read and will be sent")
        case .configurationUnusable(let error): EventReport("gateway.configuration-unusable", error: error)
        case .defaultDocumentUnusable(let error): EventReport("gateway.default-document-unusable", error: error)
        case .defaultDocumentTaken(let gateway):
            EventReport("gateway.default-document-taken", .notable, "took the default document, of \(gateway)")
        case .willStart:
            EventReport("gateway.will-start", .routine, "starting", StartState.willStart.members)
        case .didStart:
            EventReport("gateway.did-start", .routine, "started", StartState.started.members)
        case .willStop:
            EventReport("gateway.will-stop", .routine, "stopping", StartState.willStop.members)
        case .didStop:
            EventReport("gateway.did-stop", .notable, "stopped", StartState.stopped.members)
        // Not a warning: the cause is reported, or answered, separately.
        case .didFailToStart(let error): EventReport("gateway.did-fail-to-start", error: error, as: .notable)
        case .didFailToStop(let error): EventReport("gateway.did-fail-to-stop", error: error, as: .notable)
        case .notReady(let error, let delay):
            EventReport(
                "gateway.not-ready", error: error, as: Self.severity(ofNotReady: error),
                retrying(after: (error as? GatewayError)?.needsPerson == true ? nil : delay))
        case .sharingFailed(let error, let delay):
            EventReport("proximity.sharing-failed", error: error, retrying(after: delay))
        case .logInNeeded(let error): EventReport("oauth.log-in-needed", error: error)
        case .auditFailed(let error): EventReport("proximity.audit-failed", error: error)
        }
    }

    private func retrying(after delay: Duration?) -> [String: JSON] {
        delay.map { ["retrySeconds": .integer($0.components.seconds)] } ?? [:]
    }

    /// A problem that the session has already reported is not reported as one again, and what a person wanted, or an
    /// administrator has to do, is not a problem.
    private static func severity(ofNotReady error: any Error) -> EventReport.Severity {
        switch error as? GatewayError {
        case .notRegistered, .awaitingActivation, .stopped: .notable
        case .registrationWithdrawn, .deviceRecordInvalid, nil: .trouble
        // The session has reported it, and a new one as well.
        default: .routine
        }
    }
}
