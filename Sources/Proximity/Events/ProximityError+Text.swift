import Bluetooth
import Groundwork

extension ProximityError {
    public var message: String {
        switch self {
        case .notSupported(let reason): "Bluetooth Low Energy is not available: \(reason)"
        case .disabled(let reason): "Bluetooth is off: \(reason)"
        case .notPermitted(let reason): "the system does not allow the use of Bluetooth: \(reason)"
        case .interrupted(let reason): "Bluetooth was interrupted: \(reason)"
        case .invalidUUID(let text): "“\(DisplayText.clean(text))” is no Bluetooth UUID"
        case .noUserSession(let reason): "no user session can be shared: \(reason)"
        case .advertisingFailed(let reason): "cannot offer the session over Bluetooth: \(reason)"
        case .peripheralNotSupported(let reason):
            "this adapter cannot offer a session over Bluetooth: \(reason)"
        case .centralFailed(let reason): "cannot reach other devices over Bluetooth: \(reason)"
        case .centralUnsubscribed(let central): "\(central) could not be told the outcome"
        case .requestRefused(let refusal): "the request was refused: \(refusal.text)"
        case .nobodyToAsk: "nobody is there to be asked for consent"
        case .userDeclined(let source): "the request was declined (\(source))"
        case .noPeripheralFound(let least): "no device that shares a session was seen with \(least) dBm or more"
        case .signalTooWeak(let rssi, let least): "a device was seen with \(rssi) dBm, less than \(least) dBm"
        case .characteristicMissing(let address):
            "\(address) does not have the service of proximity login, or not its characteristic"
        case .authorizationFailed(let answer): "the device was not authorised: the answer was “\(answer)”"
        case .pollingFailed(let reason), .qrPollingFailed(let reason):
            "the gateway could not be asked for the authorisation: \(reason)"
        case .unexpectedUser(let name):
            "\(name.map { "“\(DisplayText.clean($0))”" } ?? "a user without a name") let this device in, not the expected user"
        case .notAuthorizedInTime: "no other device authorised this one in time"
        case .sharingInProgress: "the session is already offered to devices nearby"
        case .loginInProgress: "a proximity login is already in progress"
        case .invalidAuthenticationURL: "the gateway gave no URL that another device could authorise"
        case .invalidAuthorizeURL(let reason): "the URL cannot be authorised: \(reason)"
        case .loginFailed(let reason): "this device was authorised but could not log in: \(reason)"
        case .timedOut(let step): "\(step) took too long"
        case .noSuchRequest(let id): "no request \(id) is waiting for consent"
        case .textTooLongForQRCode(let bytes): "\(bytes) bytes are more than a QR code holds"
        case .qrCodeTooWide(let columns, let available): "the QR code needs \(columns) columns, the terminal has \(available)"
        }
    }

    public var remedy: String? {
        switch self {
        case .notSupported, .peripheralNotSupported: "attach a Bluetooth 4.0 adapter, or log in with the QR code"
        case .disabled: "switch it on (rfkill unblock bluetooth) and see `latchkey doctor`"
        case .notPermitted: "see `latchkey doctor` for what the service has to be allowed"
        case .invalidUUID: "correct msso_ble_service_uuid and msso_ble_characteristic_uuid in the gateway's configuration"
        case .noUserSession: "log in first: a client's own token cannot authorise another device"
        case .noPeripheralFound, .signalTooWeak:
            "begin to share there (latchkey share), bring the devices closer together, or lower proximity.least_signal"
        case .notAuthorizedInTime: "start again and authorise this device while the request is open"
        case .qrCodeTooWide: "widen the terminal, or write the code to a file as PNG or SVG"
        case .invalidAuthorizeURL: "authorise only codes that are shown by devices of the same gateway"
        case .interrupted, .advertisingFailed, .centralFailed: "see `latchkey proximity status` for how the adapter stands"
        case .sharingInProgress: "end it first: latchkey share --stop"
        case .loginInProgress: "wait until it ends, or end it with Ctrl-C where it was begun"
        case .noSuchRequest: "see which questions wait: latchkey consent"
        case .centralUnsubscribed, .characteristicMissing, .timedOut: "start again on the device that wants to log in"
        case .requestRefused(.tooMany), .requestRefused(.busy): "try again in a minute"
        case .requestRefused(.ambiguous): "ask again one after the other, or answer each by its number: latchkey consent"
        case .unexpectedUser: "go nearer to the device that is meant, or log in by QR code: another device answered first"
        case .userDeclined, .authorizationFailed: "ask the person at the device that shares, and start again"
        case .pollingFailed, .qrPollingFailed, .invalidAuthenticationURL, .loginFailed:
            "start again; see `latchkey doctor` for whether the gateway answers"
        case .textTooLongForQRCode: "log in over Bluetooth, or by password"
        case .requestRefused, .nobodyToAsk: nil
        }
    }

    /// A failure of the transport, as this room names it.
    init(_ error: BluetoothError, otherwise: (String) -> ProximityError) {
        switch error {
        case .noAdapter, .noLowEnergy, .daemonMissing: self = .notSupported(reason: error.message)
        case .blocked: self = .disabled(reason: error.message)
        case .noPermission: self = .notPermitted(reason: error.message)
        default: self = otherwise(error.message)
        }
    }
}

extension BluetoothUUID {
    /// What a gateway's configuration names.
    ///
    /// - Throws: ``ProximityError/invalidUUID(_:)``
    init(checking text: String) throws(ProximityError) {
        guard let identifier = Self(text) else { throw .invalidUUID(text) }
        self = identifier
    }
}

extension Error {
    /// What a person may read of any error: one that does not explain itself could hold anything.
    var reason: String {
        if let explained = self as? any Explained { return explained.message }
        return self is CancellationError ? "it was cancelled" : "an unexpected error (\(type(of: self)))"
    }
}
