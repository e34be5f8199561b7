import Bluetooth
import Groundwork

extension ProximityError {
    public var explanation: Explanation {
        switch self {
        // MARK: Bluetooth
        case .notSupported(let reason):
            said(
                "not-supported", .unavailable, "Bluetooth Low Energy is not available: \(reason)",
                remedy: Self.adapter)
        case .disabled(let reason):
            said(
                "disabled", .unavailable, "Bluetooth is off: \(reason)",
                remedy: "switch it on (rfkill unblock bluetooth) and see `latchkey doctor`")
        case .notPermitted(let reason):
            said(
                "not-permitted", .unavailable, "the system does not allow the use of Bluetooth: \(reason)",
                remedy: "see `latchkey doctor` for the permissions that the service needs")
        case .interrupted(let reason):
            said("interrupted", .temporary, "Bluetooth was interrupted: \(reason)", remedy: Self.status)
        case .invalidUUID(let text):
            said(
                "invalid-uuid", .invalidConfiguration, "“\(DisplayText.clean(text))” is not a Bluetooth UUID",
                remedy: "correct msso_ble_service_uuid and msso_ble_characteristic_uuid in the gateway's configuration")
        case .advertisingFailed(let reason):
            said(
                "advertising-failed", .unavailable, "cannot offer the session over Bluetooth: \(reason)",
                remedy: Self.status)
        case .peripheralNotSupported(let reason):
            said(
                "peripheral-not-supported", .unavailable,
                "this adapter cannot offer a session over Bluetooth: \(reason)",
                remedy: Self.adapter)
        case .centralFailed(let reason):
            said(
                "central-failed", .unavailable, "cannot reach other devices over Bluetooth: \(reason)",
                remedy: Self.status)

        // MARK: Sharing
        case .noUserSession(let reason):
            said(
                "no-user-session", .conflict, "no user session can be shared: \(reason)",
                remedy: "log in first: a client's own token cannot authorize another device")
        case .sharingInProgress:
            said(
                "sharing-in-progress", .busy, "the session is already offered to devices nearby",
                remedy: "end it first: latchkey share --stop")
        case .centralUnsubscribed(let central):
            said(
                "central-unsubscribed", .unreachable, "\(central) could not be notified of the outcome",
                remedy: Self.again)
        case .requestRefused(let refusal):
            said(
                "request-\(refusal.rawValue)", refusal.kind, "the request was refused: \(refusal.text)",
                remedy: refusal.remedy)
        case .nobodyToAsk: said("nobody-to-ask", .denied, "no one is available to give consent")
        case .userDeclined(let source):
            said("user-declined", .denied, "the request was declined (\(source))", remedy: Self.askPerson)
        case .consentNotRecorded(let reason):
            said(
                "consent-not-recorded", .unavailable,
                "the device was not let in, because this could not be recorded: \(reason)",
                remedy: "make room on the board's disk, and start again; see `latchkey doctor`")
        case .invalidAuthorizeURL(let reason):
            said(
                "invalid-authorize-url", .invalidInput, "the URL cannot be authorized: \(reason)",
                remedy: "authorize only codes that are shown by devices of the same gateway")
        case .noSuchRequest(let id):
            said(
                "no-such-request", .notFound, "no request \(id) is waiting for consent",
                remedy: "list the waiting questions: latchkey consent")

        // MARK: Login
        case .noPeripheralFound(let least):
            said(
                "no-peripheral-found", .unreachable,
                "no device that shares a session was seen with \(least) dBm or more", remedy: Self.closer)
        case .signalTooWeak(let rssi, let least):
            said(
                "signal-too-weak", .unreachable, "a device was seen with \(rssi) dBm, less than \(least) dBm",
                remedy: Self.closer)
        case .characteristicMissing(let address):
            said(
                "characteristic-missing", .invalidAnswer,
                "\(address) lacks the service of proximity login, or its characteristic",
                remedy: Self.again)
        case .authorizationFailed(let answer):
            said(
                "authorization-failed", .refused, "the device was not authorized: the answer was “\(answer)”",
                remedy: Self.askPerson)
        case .pollingFailed(let reason):
            said(
                "polling-failed", .unreachable, "the gateway could not be asked for the authorization: \(reason)",
                remedy: Self.gatewayCheck)
        case .qrPollingFailed(let reason):
            said(
                "qr-polling-failed", .unreachable, "the gateway could not be asked for the authorization: \(reason)",
                remedy: Self.gatewayCheck)
        case .notAuthorizedInTime:
            said(
                "not-authorized-in-time", .unreachable, "no other device authorized this one in time",
                remedy: "start again and authorize this device while the request is open")
        case .unexpectedUser(let name):
            said(
                "unexpected-user", .refused,
                "\(name.map { "“\(DisplayText.clean($0))”" } ?? "a user without a name") let this device in, "
                    + "not the expected user",
                remedy: "move closer to the intended device, or log in by QR code: another device answered first")
        case .loginInProgress:
            said(
                "login-in-progress", .busy, "a proximity login is already in progress",
                remedy: "wait until it ends, or end it with Ctrl-C where it was begun")
        case .invalidAuthenticationURL:
            said(
                "invalid-authentication-url", .invalidAnswer,
                "the gateway gave no URL that another device could authorize",
                remedy: Self.gatewayCheck)
        case .loginFailed(let reason):
            said(
                "login-failed", .refused, "this device was authorized but could not log in: \(reason)",
                remedy: Self.gatewayCheck)
        case .timedOut(let step): said("timed-out", .unreachable, "\(step) took too long", remedy: Self.again)
        case .textTooLongForQRCode(let bytes):
            said(
                "text-too-long-for-qr-code", .tooLarge, "\(bytes) bytes do not fit into a QR code",
                remedy: "log in over Bluetooth, or by password")
        case .qrCodeTooWide(let columns, let available):
            said(
                "qr-code-too-wide", .unavailable,
                "the QR code needs \(columns) columns, the terminal has \(available)",
                remedy: "widen the terminal, or write the code to a file as PNG or SVG")
        }
    }

    /// Adds the number of MAG 8.6 if iOS has one.
    private func said(
        _ name: String, _ kind: ExplanationKind, _ message: String, remedy: String? = nil
    ) -> Explanation {
        Explanation(
            "proximity.\(name)", kind, message, remedy: remedy,
            gateway: numbers.ios.map { GatewayNumbers(.proximityLocal, $0) })
    }

    private static let adapter = "attach a Bluetooth 4.0 adapter, or log in with the QR code"
    private static let status = "see `latchkey proximity status` for the state of the adapter"
    private static let again = "start again on the device that wants to log in"
    private static let askPerson = "ask the person at the device that shares, and start again"
    private static let gatewayCheck = "start again; see `latchkey doctor` for whether the gateway answers"
    private static let closer =
        "begin to share there (latchkey share), bring the devices closer together, or lower proximity.least_signal"

    public static let examples = ownExamples + RequestRefusal.allCases.map(ProximityError.requestRefused)

    /// Examples of all errors but the refused requests.
    private static let ownExamples: [ProximityError] = [
        .notSupported(reason: "REASON"), .disabled(reason: "REASON"), .notPermitted(reason: "REASON"),
        .interrupted(reason: "REASON"), .invalidUUID("UUID"), .noUserSession(reason: "REASON"), .sharingInProgress,
        .advertisingFailed(reason: "REASON"), .peripheralNotSupported(reason: "REASON"),
        .centralFailed(reason: "REASON"),
        .centralUnsubscribed(central: "DEVICE"), .nobodyToAsk, .userDeclined(by: "SOURCE"),
        .consentNotRecorded(reason: "REASON"),
        .noPeripheralFound(leastSignal: -80),
        .signalTooWeak(rssi: -90, least: -80), .characteristicMissing(address: "DEVICE"),
        .authorizationFailed(answer: "ANSWER"),
        .pollingFailed(reason: "REASON"), .qrPollingFailed(reason: "REASON"), .notAuthorizedInTime,
        .unexpectedUser(name: "USER"),
        .loginInProgress, .invalidAuthenticationURL, .invalidAuthorizeURL(reason: "REASON"),
        .loginFailed(reason: "REASON"),
        .timedOut(step: "STEP"), .noSuchRequest(id: 7), .textTooLongForQRCode(bytes: 3000),
        .qrCodeTooWide(columns: 60, available: 40),
    ]

    /// Converts an error of the transport to this module's.
    init(_ error: BluetoothError, otherwise: (String) -> ProximityError) {
        switch error {
        case .noAdapter, .noLowEnergy, .daemonMissing: self = .notSupported(reason: error.message)
        case .blocked: self = .disabled(reason: error.message)
        case .noPermission: self = .notPermitted(reason: error.message)
        case .disconnected, .timedOut, .att, .tooLong, .failed, .stopped: self = otherwise(error.message)
        }
    }
}

extension BluetoothUUID {
    /// Checks a UUID from a gateway's configuration.
    ///
    /// - Throws: ``ProximityError/invalidUUID(_:)``
    init(checking text: String) throws(ProximityError) {
        guard let identifier = Self(text) else { throw .invalidUUID(text) }
        self = identifier
    }
}

extension Error {
    /// The message of any error, for people.
    var reason: String { Explanation(of: self).message }
}
