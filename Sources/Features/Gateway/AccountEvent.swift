import AgentCore
import Gateway
import Groundwork
import Messaging

/// What happens to an account's work at its gateway, beside what the session there reports.
package enum AccountEvent: ReportedEvent {
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

    package static let meanings = [
        "gateway.configuration-unusable": "the stored configuration of a gateway cannot be used",
        "gateway.default-document-taken": "the default document of the settings became the configuration",
        "gateway.default-document-unusable": "the default document of the settings cannot be used",
        "gateway.did-fail-to-start": "the gateway connection could not be started",
        "gateway.did-fail-to-stop": "the gateway connection could not be stopped",
        "gateway.did-start": "the gateway connection was started",
        "gateway.did-stop": "the gateway connection was stopped; start it, or restart the agent",
        "gateway.not-ready":
            "the board cannot connect to its broker, because its registration or its token is not ready",
        "gateway.will-start": "the gateway connection is being started",
        "gateway.will-stop": "the gateway connection is being stopped",
    ]

    package static var details: [String: Schema] { StartState.schemas }

    package var report: EventReport {
        switch self {
        case .configurationUnusable(let error):
            return EventReport("gateway.configuration-unusable", error: error, raises: .gateway)
        case .defaultDocumentUnusable(let error):
            return EventReport("gateway.default-document-unusable", error: error, raises: .gateway)
        case .defaultDocumentTaken(let gateway):
            return EventReport(
                "gateway.default-document-taken", .notable, "used the default document, for \(gateway)")
        case .willStart:
            return EventReport("gateway.will-start", .routine, "starting", StartState.willStart.members)
        case .didStart: return EventReport("gateway.did-start", .routine, "started", StartState.started.members)
        case .willStop: return EventReport("gateway.will-stop", .routine, "stopping", StartState.willStop.members)
        // Nothing is connected any more, as a person wants it.
        case .didStop:
            return EventReport(
                "gateway.did-stop", .notable, "stopped", StartState.stopped.members, ends: [.broker, .credentials])
        // Not a warning: the cause is reported, or answered, separately.
        case .didFailToStart(let error):
            return EventReport("gateway.did-fail-to-start", error: error, as: .notable)
        case .didFailToStop(let error):
            return EventReport("gateway.did-fail-to-stop", error: error, as: .notable)
        case .notReady(let error, let delay):
            let waits = (error as? GatewayError)?.needsPerson == true
            return EventReport(
                "gateway.not-ready", error: error, as: Self.severity(ofNotReady: error),
                waits ? [:] : ["retrySeconds": .integer(delay.components.seconds)], raises: .credentials)
        }
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
