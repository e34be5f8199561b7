import AgentCore
import Gateway
import Groundwork

/// What becomes of an enrollment that waits for the agent. No event contains any of it.
enum FirstBootEvent: ReportedEvent {
    case found(place: String)
    /// It is tried again after the delay.
    case didFail(place: String, any Error, retryAfter: Duration)
    /// It can never be used.
    case refused(place: String, any Error)
    case taken(place: String, GatewayIdentity)
    case wiped(place: String)
    case notWiped(FirstBootError)
    /// It is there, and is not used.
    case notUsed(FirstBootError)
    case scannerReady
    case scannerFailed(any Error)

    static let meanings = [
        "enrollment.did-fail": "an enrollment that waited for the agent could not be used yet; it is tried again",
        "enrollment.found": "an enrollment was found: in a file, in a credential, or by the scanner",
        "enrollment.not-used": "an enrollment is waiting, but the board is already enrolled or has already used it",
        "enrollment.not-wiped": "an enrollment was used but could not be wiped; it is not used again",
        "enrollment.refused": "an enrollment that waited for the agent cannot be used, and is not tried again",
        "enrollment.scanner-failed": "the enrollment scanner cannot be read; it is tried again",
        "enrollment.scanner-ready": "the enrollment scanner works; show it a QR code",
        "enrollment.taken": "an enrollment that waited for the agent became the configuration",
        "enrollment.wiped": "a used enrollment was wiped",
    ]

    static var details: [String: Schema] {
        ["place": .string("where it waited: a path, the credential or the scanner")]
    }

    var report: EventReport {
        switch self {
        case .found(let place):
            EventReport("enrollment.found", .notable, "an enrollment is waiting in \(place)", ["place": .string(place)])
        case .didFail(let place, let error, let delay):
            EventReport(
                "enrollment.did-fail", error: error,
                ["place": .string(place), "retrySeconds": .integer(delay.components.seconds)], raises: .gateway)
        case .refused(let place, let error):
            EventReport("enrollment.refused", error: error, ["place": .string(place)], raises: .gateway)
        case .taken(let place, let gateway):
            EventReport(
                "enrollment.taken", .notable, "used the enrollment in \(place), for \(gateway)",
                ["place": .string(place)])
        case .wiped(let place):
            EventReport("enrollment.wiped", .notable, "wiped \(place)", ["place": .string(place)])
        case .notWiped(let error): EventReport("enrollment.not-wiped", error: error)
        // A person may want it there: the doctor names it.
        case .notUsed(let error): EventReport("enrollment.not-used", error: error, as: .notable)
        case .scannerReady: EventReport("enrollment.scanner-ready", .notable, "waiting for a QR code")
        case .scannerFailed(let error): EventReport("enrollment.scanner-failed", error: error, raises: .gateway)
        }
    }
}
