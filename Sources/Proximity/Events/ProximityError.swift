import Groundwork

/// Errors of a login with a nearby device, on either side.
public enum ProximityError: Explained, Equatable {
    /// There is no Bluetooth adapter, or it does not support Low Energy.
    case notSupported(reason: String)
    /// Bluetooth is switched off or blocked.
    case disabled(reason: String)
    /// The system does not let the agent use Bluetooth.
    case notPermitted(reason: String)
    /// The adapter was removed or is restarting.
    case interrupted(reason: String)
    case invalidUUID(String)
    /// No user is logged in here, so there is no session to share.
    case noUserSession(reason: String)
    case sharingInProgress
    case advertisingFailed(reason: String)
    /// The adapter cannot advertise, so that no device can find this one.
    case peripheralNotSupported(reason: String)
    case centralFailed(reason: String)
    /// The other device left, or had not subscribed, before it was notified of the outcome.
    case centralUnsubscribed(central: String)
    case requestRefused(RequestRefusal)
    /// A program requested consent, but no one is there to give it.
    case nobodyToAsk
    case userDeclined(by: String)
    /// Consent was given, but could not be recorded, so that the other device was not let in.
    case consentNotRecorded(reason: String)
    case noPeripheralFound(leastSignal: Int)
    case signalTooWeak(rssi: Int, least: Int)
    /// The device that advertises the service lacks it or its characteristic.
    case characteristicMissing(address: String)
    /// On the device that logs in: the other one's answer was not `0`. On the device that shares: the gateway did not
    /// authorize the other one.
    case authorizationFailed(answer: String)
    case pollingFailed(reason: String)
    case qrPollingFailed(reason: String)
    case notAuthorizedInTime
    /// A user other than the expected one authorized this device.
    case unexpectedUser(name: String?)
    case loginInProgress
    case invalidAuthenticationURL
    case invalidAuthorizeURL(reason: String)
    case loginFailed(reason: String)
    case timedOut(step: String)
    case noSuchRequest(id: Int)
    case textTooLongForQRCode(bytes: Int)
    case qrCodeTooWide(columns: Int, available: Int)
}

extension ProximityError {
    public var numbers: ErrorNumbers {
        switch self {
        case .disabled: ErrorNumbers(android: 100, ios: 650_007)
        case .notSupported: ErrorNumbers(android: 101, ios: 650_010)
        case .notPermitted: ErrorNumbers(android: 100, ios: 650_011)
        case .interrupted: ErrorNumbers(android: 100, ios: 650_008)
        case .invalidUUID: ErrorNumbers(android: 102)
        case .noUserSession: ErrorNumbers(android: 103)
        case .advertisingFailed: ErrorNumbers(android: 120, ios: 650_014)
        case .peripheralNotSupported: ErrorNumbers(android: 122, ios: 650_014)
        case .centralFailed: ErrorNumbers(ios: 650_013)
        case .centralUnsubscribed: ErrorNumbers(android: 123, ios: 650_004)
        case .requestRefused(let refusal): refusal.numbers
        case .nobodyToAsk: ErrorNumbers(android: 121, ios: 650_005)
        case .userDeclined: ErrorNumbers(android: 121, ios: 650_012)
        case .consentNotRecorded: ErrorNumbers(android: 121, ios: 650_002)
        case .noPeripheralFound: ErrorNumbers()
        case .signalTooWeak: ErrorNumbers(ios: 650_009)
        case .characteristicMissing: ErrorNumbers(ios: 650_016)
        case .authorizationFailed: ErrorNumbers(android: 121, ios: 650_002)
        case .pollingFailed, .notAuthorizedInTime: ErrorNumbers(ios: 650_003)
        case .qrPollingFailed: ErrorNumbers(ios: 650_103)
        case .loginInProgress, .sharingInProgress: ErrorNumbers(ios: 650_101)
        case .invalidAuthenticationURL: ErrorNumbers(ios: 650_102)
        case .invalidAuthorizeURL: ErrorNumbers(ios: 650_104)
        case .loginFailed, .unexpectedUser: ErrorNumbers(android: 121, ios: 650_002)
        case .timedOut, .noSuchRequest, .textTooLongForQRCode, .qrCodeTooWide: ErrorNumbers()
        }
    }
}
