import Groundwork

extension ProximityEvent: CustomStringConvertible {
    /// Stable and for programs: `proximity.what-happened`.
    public var name: String { "proximity." + telling.name }

    /// One line for a person.
    public var description: String { telling.text }

    /// What it happened to; nothing secret. With the numbers of 8.6 and the notification of 13.2 where there are some.
    public var details: [String: JSON] {
        var details = telling.details
        if let state {
            if let number = state.androidNumber { details["state_android"] = .integer(Int64(number)) }
            details["state_ios"] = .integer(Int64(state.iosNumber))
        }
        if let error {
            details["code"] = .string(error.code)
            details["message"] = .string(error.message)
            if let number = error.numbers.android { details["error_android"] = .integer(Int64(number)) }
            if let number = error.numbers.ios { details["error_ios"] = .integer(Int64(number)) }
        }
        if let notification { details["notification"] = .string(notification) }
        return details
    }

    private typealias Telling = (name: String, text: String, details: [String: JSON])

    private var telling: Telling {
        switch self {
        case .scanStarted, .scanStopped, .deviceDetected, .deviceTooFar, .deviceConnected, .deviceFailed, .deviceDisconnected,
            .serviceDiscovered, .characteristicFound, .requestWritten, .polled, .loginSucceeded, .loginFailed: tellingOfLogin
        case .qrCodeShown(let seconds):
            ("qr-code-shown", "scan the QR code with a device that is logged in, within \(seconds) s",
                ["seconds": .integer(Int64(seconds))])
        case .qrCodeHidden: ("qr-code-hidden", "the QR code is no longer shown", [:])
        case .authorizationCodeReceived: ("authorization-code-received", "another device authorised this one", [:])
        case .authorizationErrorReceived(let error): ("authorization-error-received", error.message, [:])
        case .sharingEndRequested(let source):
            ("sharing-end-requested", "sharing was ended (\(source))", ["by": .string(source.description)])
        case .buttonFault(let fault):
            ("button-fault", "the button cannot be used: \(fault.text)", ["fault": .string(fault.rawValue)])
        case .buttonRecovered: ("button-recovered", "the button can be used again", [:])
        default: tellingOfSharing
        }
    }

    private var tellingOfLogin: Telling {
        switch self {
        case .scanStarted: ("scan-started", "looking for devices that share a session", [:])
        case .scanStopped: ("scan-stopped", "no longer looking for devices", [:])
        case .deviceDetected(let address, let rssi, let name):
            ("device-detected",
                "\(name ?? "a device") (\(address)) is near: \(rssi == SignalBoard.unknown ? "signal not known" : "\(rssi) dBm")",
                ["address": .string(address), "rssi": .integer(Int64(rssi)), "name": name.map(JSON.string) ?? .null])
        case .deviceTooFar(let address, let rssi, let least):
            ("device-too-far", "\(address) is too far away: \(rssi) dBm",
                ["address": .string(address), "rssi": .integer(Int64(rssi)), "least_rssi": .integer(Int64(least))])
        case .deviceConnected(let address): ("device-connected", "connected to \(address)", ["address": .string(address)])
        case .deviceFailed(let address, let error):
            ("device-failed", "\(address): \(error.message)", ["address": .string(address)])
        case .deviceDisconnected(let address):
            ("device-disconnected", "disconnected from \(address)", ["address": .string(address)])
        case .serviceDiscovered(let address):
            ("service-discovered", "\(address) has the service of proximity login", ["address": .string(address)])
        case .characteristicFound(let address):
            ("characteristic-found", "\(address) takes requests", ["address": .string(address)])
        case .requestWritten(let address, let pieces):
            ("request-written", "the request was sent to \(address)",
                ["address": .string(address), "pieces": .integer(Int64(pieces))])
        case .polled(let attempt, let limit):
            ("polled", "not let in yet: asked the gateway, \(attempt) of \(limit)",
                ["attempt": .integer(Int64(attempt)), "limit": .integer(Int64(limit))])
        case .loginSucceeded(let user): ("login-succeeded", "\(user) is logged in", ["user": .string(user)])
        case .loginFailed(let error): ("login-failed", error.message, [:])
        default: ("event", "", [:])
        }
    }

    private var tellingOfSharing: Telling {
        switch self {
        case .sharingStarted: ("sharing-started", "the session is offered to devices nearby", [:])
        case .sharingInterrupted(let reason): ("sharing-interrupted", "the session is not offered for now: \(reason)", [:])
        case .sharingStopped(let end):
            ("sharing-stopped", "the session is no longer offered: \(end.text)", ["end": .string(end.rawValue)])
        case .centralConnected(let central): ("central-connected", "\(central) connected", ["central": .string(central)])
        case .centralDisconnected(let central):
            ("central-disconnected", "\(central) disconnected", ["central": .string(central)])
        case .centralSubscribed(let central):
            ("central-subscribed", "\(central) waits for an answer", ["central": .string(central)])
        case .centralUnsubscribed(let central):
            ("central-unsubscribed", "\(central) no longer waits for an answer", ["central": .string(central)])
        case .centralHungUp(let central, let reason):
            ("central-hung-up", "\(central) was disconnected: \(reason.text)",
                ["central": .string(central), "reason": .string(reason.rawValue)])
        case .requestReceived(let requester): ("request-received", "\(requester) asks to be authorised", requester.details)
        case .requestRefused(let requester, let error):
            ("request-refused", "\(requester): \(error.message)", requester.details)
        case .consentAsked(let request):
            ("consent-asked", "\(request.requester) waits for consent", request.details)
        case .consentAnswered(let request, let decision):
            ("consent-answered", "\(request.requester): \(decision)",
                request.details.merging(
                    ["decision": .string(decision.name), "by": decision.source.map { .string($0.description) } ?? .null],
                    uniquingKeysWith: { own, _ in own }))
        case .consentAmbiguous(let waiting):
            ("ambiguous", "several devices ask for consent, and the button lets none of them in: answer by latchkey consent",
                ["waiting": .integer(Int64(waiting))])
        case .consentUnambiguous(let request):
            ("unambiguous", "\(request.requester) alone waits for consent", request.details)
        case .sessionAuthorized(let requester): ("session-authorized", "\(requester) was authorised", requester.details)
        case .sessionNotAuthorized(let requester, let error):
            ("session-not-authorized", "\(requester) was not authorised: \(error.message)", requester.details)
        case .sessionNotified(let requester, let answer):
            ("session-notified", "\(requester) was told “\(answer.rawValue)”: \(answer.text)",
                requester.details.merging(["answer": .string(answer.rawValue)], uniquingKeysWith: { own, _ in own }))
        case .sessionNotNotified(let requester, let error):
            ("session-not-notified", "\(requester): \(error.message)", requester.details)
        default: ("event", "", [:])
        }
    }
}
