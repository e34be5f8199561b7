import Groundwork
import Prompts

extension ProximityEvent: ReportedEvent, CustomStringConvertible {
    public var report: EventReport {
        let wording = wording
        return EventReport(
            wording.name, wording.severity, wording.error?.message ?? wording.text, wording.details,
            raises: wording.raises, ends: wording.ends)
    }

    /// Stable and for programs: `proximity.what-happened`.
    public var name: String { wording.name }

    /// One line for a person.
    public var description: String { wording.text }

    /// The subject of the event, the explanation of its error, its numbers (MAG 8.6) and notification (MAG 13.2), if
    /// any. Contains no secrets.
    public var details: [String: JSON] { wording.details }

    /// The state of MAG 8.6 that this event stands for, if any.
    public var state: ProximityState? { wording.state }

    /// The name of the second reference client's notification (MAG 13.2).
    public var notification: String? { wording.notification }

    /// The error of this event, if any.
    public var error: ProximityError? { wording.error }

    /// The numbers of MAG 8.6: of the event's error if it has one, else of its state.
    public var numbers: ErrorNumbers? {
        if case .sharingInterrupted = self { return ErrorNumbers(ios: ProximityState.unknown.iosNumber) }
        if let state { return ErrorNumbers(android: state.androidNumber, ios: state.iosNumber) }
        return error?.numbers
    }

    /// The texts and numbers of an event.
    private struct Wording {
        let name: String
        let severity: EventReport.Severity
        let text: String
        let fields: [String: JSON]
        let state: ProximityState?
        let error: ProximityError?
        let notification: String?
        let raises: Trouble?
        let ends: Set<Trouble>

        /// - Parameters:
        ///   - name: without the module's prefix.
        ///   - text: `nil` if the error's message is sufficient.
        init(
            _ name: String, _ severity: EventReport.Severity = .notable, _ text: String? = nil,
            _ fields: [String: JSON] = [:], state: ProximityState? = nil, error: ProximityError? = nil,
            notification: String? = nil, raises: Trouble? = nil, ends: Set<Trouble> = []
        ) {
            self.name = "proximity.\(name)"
            self.severity = severity
            self.text = text ?? error?.message ?? ""
            self.fields = fields
            self.state = state
            self.error = error
            self.notification = notification
            self.raises = raises
            self.ends = ends
        }

        var details: [String: JSON] {
            var details = fields
            if let state {
                if let number = state.androidNumber { details["state_android"] = .integer(Int64(number)) }
                details["state_ios"] = .integer(Int64(state.iosNumber))
            }
            if let error {
                details.merge(error.explanation.members) { own, _ in own }
                if let number = error.numbers.android { details["error_android"] = .integer(Int64(number)) }
                if let number = error.numbers.ios { details["error_ios"] = .integer(Int64(number)) }
            }
            if let notification { details["notification"] = .string(notification) }
            return details
        }
    }

    private var wording: Wording {
        switch self {
        // This device logs in, over Bluetooth.
        case .scanStarted:
            Wording("scan-started", .routine, "looking for devices that share a session", state: .scanStarted)
        case .scanStopped: Wording("scan-stopped", .routine, "no longer looking for devices", state: .scanStopped)
        case .deviceDetected(let address, let rssi, let name):
            Wording(
                "device-detected", .notable,
                "\(name ?? "a device") (\(address)) is near: \(rssi == SignalBoard.unknown ? "signal not known" : "\(rssi) dBm")",
                ["address": .string(address), "rssi": .integer(Int64(rssi)), "name": name.map(JSON.string) ?? .null],
                state: .deviceDetected)
        case .deviceTooFar(let address, let rssi, let least):
            Wording(
                "device-too-far", .routine, "\(address) is too far away: \(rssi) dBm",
                ["address": .string(address), "rssi": .integer(Int64(rssi)), "least_rssi": .integer(Int64(least))],
                error: .signalTooWeak(rssi: rssi, least: least))
        case .deviceConnected(let address):
            Wording(
                "device-connected", .notable, "connected to \(address)", ["address": .string(address)],
                state: .deviceConnected)
        case .deviceFailed(let address, let error):
            Wording(
                "device-failed", .notable, "\(address): \(error.message)", ["address": .string(address)],
                error: error)
        case .deviceDisconnected(let address):
            Wording(
                "device-disconnected", .notable, "disconnected from \(address)", ["address": .string(address)],
                state: .deviceDisconnected)
        case .serviceDiscovered(let address):
            Wording(
                "service-discovered", .routine, "\(address) has the service of proximity login",
                ["address": .string(address)], state: .serviceDiscovered)
        case .characteristicFound(let address):
            Wording(
                "characteristic-found", .routine, "\(address) accepts requests", ["address": .string(address)],
                state: .characteristicFound)
        case .requestWritten(let address, let pieces):
            Wording(
                "request-written", .notable, "the request was sent to \(address)",
                ["address": .string(address), "pieces": .integer(Int64(pieces))], state: .characteristicWritten)
        case .polled(let attempt, let limit):
            Wording(
                "polled", .routine, "not let in yet: asked the gateway, \(attempt) of \(limit)",
                ["attempt": .integer(Int64(attempt)), "limit": .integer(Int64(limit))])
        case .loginSucceeded(let user):
            Wording(
                "login-succeeded", .notable, "\(user) is logged in", ["user": .string(user)],
                state: .authorizationSucceeded)
        case .loginFailed(let error): Wording("login-failed", state: .authorizationFailed, error: error)

        // This device logs in by a QR code.
        case .qrCodeShown(let seconds):
            Wording(
                "qr-code-shown", .notable, "scan the QR code with a device that is logged in, within \(seconds) s",
                ["seconds": .integer(Int64(seconds))],
                notification: "MASProximityLoginQRCodeDidStartDisplayingQRCodeImage")
        case .qrCodeHidden:
            Wording(
                "qr-code-hidden", .notable, "the QR code is no longer shown",
                notification: "MASProximityLoginQRCodeDidStopDisplayingQRCodeImage")
        case .authorizationCodeReceived:
            Wording(
                "authorization-code-received", .notable, "another device authorized this one",
                notification: "MASDeviceDidReceiveAuthorizationCodeFromProximityLoginNotification")
        case .authorizationErrorReceived(let error):
            Wording(
                "authorization-error-received", error: error,
                notification: "MASDeviceDidReceiveErrorFromProximityLoginNotification")

        // This device shares its session.
        case .sharingStarted:
            Wording(
                "sharing-started", .notable, "the session is offered to devices nearby", state: .sharingStarted,
                ends: [.sharing, .radio])
        case .sharingInterrupted(let reason):
            Wording(
                "sharing-interrupted", .trouble, "the session is not offered for now: \(reason)", state: .unknown,
                error: .interrupted(reason: reason), raises: .radio)
        case .sharingStopped(let end):
            Wording(
                "sharing-stopped", .notable, "the session is no longer offered: \(end.text)",
                ["end": .string(end.rawValue)], state: .sharingStopped, ends: [.radio])
        case .centralConnected(let central):
            Wording(
                "central-connected", .notable, "\(central) connected", ["central": .string(central)],
                state: .centralConnected)
        case .centralDisconnected(let central):
            Wording(
                "central-disconnected", .notable, "\(central) disconnected", ["central": .string(central)],
                state: .centralDisconnected)
        case .centralSubscribed(let central):
            Wording("central-subscribed", .routine, "\(central) waits for an answer", ["central": .string(central)])
        case .centralUnsubscribed(let central):
            Wording(
                "central-unsubscribed", .routine, "\(central) no longer waits for an answer",
                ["central": .string(central)])
        case .centralHungUp(let central, let reason):
            Wording(
                "central-hung-up", .notable, "\(central) was disconnected: \(reason.text)",
                ["central": .string(central), "reason": .string(reason.rawValue)])
        case .requestReceived(let requester):
            Wording("request-received", .notable, "\(requester) asks to be authorized", requester.details)
        case .requestRefused(let requester, let error):
            Wording("request-refused", .notable, "\(requester): \(error.message)", requester.details, error: error)
        case .consentAsked(let request):
            Wording("consent-asked", .notable, "\(request.requester) waits for consent", request.details)
        case .consentAnswered(let request, let decision):
            Wording(
                "consent-answered", .notable, "\(request.requester): \(decision)",
                request.details.merging(
                    [
                        "decision": .string(decision.name),
                        "by": decision.source.map { .string($0.description) } ?? .null,
                    ],
                    uniquingKeysWith: { own, _ in own }))
        case .consentAmbiguous(let waiting):
            Wording(
                "ambiguous", .notable,
                "several wait for a press of the button, and it answers none of them: answer by latchkey consent",
                ["waiting": .integer(Int64(waiting))])
        case .consentUnambiguous(let request):
            Wording("unambiguous", .notable, "\(request.requester) alone waits for consent", request.details)
        case .sessionAuthorized(let requester):
            Wording(
                "session-authorized", .notable, "\(requester) was authorized", requester.details,
                state: .sessionAuthorized)
        case .sessionNotAuthorized(let requester, let error):
            Wording(
                "session-not-authorized", .notable, "\(requester) was not authorized: \(error.message)",
                requester.details, error: error)
        case .sessionNotified(let requester, let answer):
            Wording(
                "session-notified", .notable, "\(requester) was sent the answer “\(answer.rawValue)”: \(answer.text)",
                requester.details.merging(["answer": .string(answer.rawValue)], uniquingKeysWith: { own, _ in own }),
                state: .sessionNotified)
        case .sessionNotNotified(let requester, let error):
            Wording("session-not-notified", .notable, "\(requester): \(error.message)", requester.details, error: error)

        // The button of this device.
        case .sharingEndRequested(let source):
            Wording(
                "sharing-end-requested", .notable, "sharing was ended (\(source))",
                ["by": .string(source.description)])
        case .buttonFault(let fault):
            Wording(
                "button-fault", .trouble, "the button cannot be used: \(fault.text)",
                ["fault": .string(fault.rawValue)], raises: .button)
        case .buttonRecovered: Wording("button-recovered", .notable, "the button can be used again", ends: [.button])
        }
    }
}
