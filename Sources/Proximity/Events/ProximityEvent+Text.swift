import Groundwork

extension ProximityEvent: ReportedEvent, CustomStringConvertible {
    public var report: EventReport {
        let told = telling
        return EventReport(told.name, told.severity, told.error?.message ?? told.text, told.details)
    }

    /// Stable and for programs: `proximity.what-happened`.
    public var name: String { telling.name }

    /// One line for a person.
    public var description: String { telling.text }

    /// The subject of the event, the explanation of its error, its numbers (MAG 8.6) and notification (MAG 13.2), if
    /// any. Contains no secrets.
    public var details: [String: JSON] { telling.details }

    /// The state of MAG 8.6 that this event stands for, if any.
    public var state: ProximityState? { telling.state }

    /// The name of the second reference client's notification (MAG 13.2).
    public var notification: String? { telling.notification }

    /// The error of this event, if any.
    public var error: ProximityError? { telling.error }

    /// The numbers of MAG 8.6: of the event's error if it has one, else of its state.
    public var numbers: ErrorNumbers? {
        if case .sharingInterrupted = self { return ErrorNumbers(ios: ProximityState.unknown.iosNumber) }
        if let state { return ErrorNumbers(android: state.androidNumber, ios: state.iosNumber) }
        return error?.numbers
    }

    /// The texts and numbers of an event.
    private struct Telling {
        let name: String
        let severity: EventReport.Severity
        let text: String
        let fields: [String: JSON]
        let state: ProximityState?
        let error: ProximityError?
        let notification: String?

        /// - Parameters:
        ///   - name: without the module's prefix.
        ///   - text: `nil` if the error's message is sufficient.
        init(
            _ name: String, _ severity: EventReport.Severity = .notable, _ text: String? = nil,
            _ fields: [String: JSON] = [:], state: ProximityState? = nil, error: ProximityError? = nil,
            notification: String? = nil
        ) {
            self.name = "proximity.\(name)"
            self.severity = severity
            self.text = text ?? error?.message ?? ""
            self.fields = fields
            self.state = state
            self.error = error
            self.notification = notification
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

    private var telling: Telling {
        switch self {
        // This device logs in, over Bluetooth.
        case .scanStarted:
            Telling("scan-started", .routine, "looking for devices that share a session", state: .scanStarted)
        case .scanStopped: Telling("scan-stopped", .routine, "no longer looking for devices", state: .scanStopped)
        case .deviceDetected(let address, let rssi, let name):
            Telling(
                "device-detected", .notable,
                "\(name ?? "a device") (\(address)) is near: \(rssi == SignalBoard.unknown ? "signal not known" : "\(rssi) dBm")",
                ["address": .string(address), "rssi": .integer(Int64(rssi)), "name": name.map(JSON.string) ?? .null],
                state: .deviceDetected)
        case .deviceTooFar(let address, let rssi, let least):
            Telling(
                "device-too-far", .routine, "\(address) is too far away: \(rssi) dBm",
                ["address": .string(address), "rssi": .integer(Int64(rssi)), "least_rssi": .integer(Int64(least))],
                error: .signalTooWeak(rssi: rssi, least: least))
        case .deviceConnected(let address):
            Telling(
                "device-connected", .notable, "connected to \(address)", ["address": .string(address)],
                state: .deviceConnected)
        case .deviceFailed(let address, let error):
            Telling(
                "device-failed", .notable, "\(address): \(error.message)", ["address": .string(address)],
                error: error)
        case .deviceDisconnected(let address):
            Telling(
                "device-disconnected", .notable, "disconnected from \(address)", ["address": .string(address)],
                state: .deviceDisconnected)
        case .serviceDiscovered(let address):
            Telling(
                "service-discovered", .routine, "\(address) has the service of proximity login",
                ["address": .string(address)], state: .serviceDiscovered)
        case .characteristicFound(let address):
            Telling(
                "characteristic-found", .routine, "\(address) takes requests", ["address": .string(address)],
                state: .characteristicFound)
        case .requestWritten(let address, let pieces):
            Telling(
                "request-written", .notable, "the request was sent to \(address)",
                ["address": .string(address), "pieces": .integer(Int64(pieces))], state: .characteristicWritten)
        case .polled(let attempt, let limit):
            Telling(
                "polled", .routine, "not let in yet: asked the gateway, \(attempt) of \(limit)",
                ["attempt": .integer(Int64(attempt)), "limit": .integer(Int64(limit))])
        case .loginSucceeded(let user):
            Telling(
                "login-succeeded", .notable, "\(user) is logged in", ["user": .string(user)],
                state: .authorizationSucceeded)
        case .loginFailed(let error): Telling("login-failed", state: .authorizationFailed, error: error)

        // This device logs in by a QR code.
        case .qrCodeShown(let seconds):
            Telling(
                "qr-code-shown", .notable, "scan the QR code with a device that is logged in, within \(seconds) s",
                ["seconds": .integer(Int64(seconds))],
                notification: "MASProximityLoginQRCodeDidStartDisplayingQRCodeImage")
        case .qrCodeHidden:
            Telling(
                "qr-code-hidden", .notable, "the QR code is no longer shown",
                notification: "MASProximityLoginQRCodeDidStopDisplayingQRCodeImage")
        case .authorizationCodeReceived:
            Telling(
                "authorization-code-received", .notable, "another device authorized this one",
                notification: "MASDeviceDidReceiveAuthorizationCodeFromProximityLoginNotification")
        case .authorizationErrorReceived(let error):
            Telling(
                "authorization-error-received", error: error,
                notification: "MASDeviceDidReceiveErrorFromProximityLoginNotification")

        // This device shares its session.
        case .sharingStarted:
            Telling("sharing-started", .notable, "the session is offered to devices nearby", state: .sharingStarted)
        case .sharingInterrupted(let reason):
            Telling(
                "sharing-interrupted", .trouble, "the session is not offered for now: \(reason)", state: .unknown,
                error: .interrupted(reason: reason))
        case .sharingStopped(let end):
            Telling(
                "sharing-stopped", .notable, "the session is no longer offered: \(end.text)",
                ["end": .string(end.rawValue)], state: .sharingStopped)
        case .centralConnected(let central):
            Telling(
                "central-connected", .notable, "\(central) connected", ["central": .string(central)],
                state: .centralConnected)
        case .centralDisconnected(let central):
            Telling(
                "central-disconnected", .notable, "\(central) disconnected", ["central": .string(central)],
                state: .centralDisconnected)
        case .centralSubscribed(let central):
            Telling("central-subscribed", .routine, "\(central) waits for an answer", ["central": .string(central)])
        case .centralUnsubscribed(let central):
            Telling(
                "central-unsubscribed", .routine, "\(central) no longer waits for an answer",
                ["central": .string(central)])
        case .centralHungUp(let central, let reason):
            Telling(
                "central-hung-up", .notable, "\(central) was disconnected: \(reason.text)",
                ["central": .string(central), "reason": .string(reason.rawValue)])
        case .requestReceived(let requester):
            Telling("request-received", .notable, "\(requester) asks to be authorized", requester.details)
        case .requestRefused(let requester, let error):
            Telling("request-refused", .notable, "\(requester): \(error.message)", requester.details, error: error)
        case .consentAsked(let request):
            Telling("consent-asked", .notable, "\(request.requester) waits for consent", request.details)
        case .consentAnswered(let request, let decision):
            Telling(
                "consent-answered", .notable, "\(request.requester): \(decision)",
                request.details.merging(
                    [
                        "decision": .string(decision.name),
                        "by": decision.source.map { .string($0.description) } ?? .null,
                    ],
                    uniquingKeysWith: { own, _ in own }))
        case .consentAmbiguous(let waiting):
            Telling(
                "ambiguous", .notable,
                "several devices ask for consent, and the button lets none of them in: answer by latchkey consent",
                ["waiting": .integer(Int64(waiting))])
        case .consentUnambiguous(let request):
            Telling("unambiguous", .notable, "\(request.requester) alone waits for consent", request.details)
        case .sessionAuthorized(let requester):
            Telling(
                "session-authorized", .notable, "\(requester) was authorized", requester.details,
                state: .sessionAuthorized)
        case .sessionNotAuthorized(let requester, let error):
            Telling(
                "session-not-authorized", .notable, "\(requester) was not authorized: \(error.message)",
                requester.details, error: error)
        case .sessionNotified(let requester, let answer):
            Telling(
                "session-notified", .notable, "\(requester) was told “\(answer.rawValue)”: \(answer.text)",
                requester.details.merging(["answer": .string(answer.rawValue)], uniquingKeysWith: { own, _ in own }),
                state: .sessionNotified)
        case .sessionNotNotified(let requester, let error):
            Telling("session-not-notified", .notable, "\(requester): \(error.message)", requester.details, error: error)

        // The button of this device.
        case .sharingEndRequested(let source):
            Telling(
                "sharing-end-requested", .notable, "sharing was ended (\(source))",
                ["by": .string(source.description)])
        case .buttonFault(let fault):
            Telling(
                "button-fault", .trouble, "the button cannot be used: \(fault.text)",
                ["fault": .string(fault.rawValue)])
        case .buttonRecovered: Telling("button-recovered", .notable, "the button can be used again")
        }
    }
}
