import Bluetooth
import Groundwork

/// Something that happened while devices log in beside each other.
public enum ProximityEvent: Sendable, Equatable {
    // This device logs in, over Bluetooth.
    case scanStarted
    case scanStopped
    case deviceDetected(address: String, rssi: Int, name: String?)
    /// It is too far away to be asked.
    case deviceTooFar(address: String, rssi: Int, least: Int)
    case deviceConnected(address: String)
    case deviceFailed(address: String, ProximityError)
    case deviceDisconnected(address: String)
    case serviceDiscovered(address: String)
    case characteristicFound(address: String)
    case requestWritten(address: String, pieces: Int)
    /// The gateway was asked whether the other device authorised this one.
    case polled(attempt: Int, of: Int)
    case loginSucceeded(userName: String)
    case loginFailed(ProximityError)

    // This device logs in by a QR code (13.2).
    /// For how long it can be scanned.
    case qrCodeShown(seconds: Int)
    case qrCodeHidden
    case authorizationCodeReceived
    case authorizationErrorReceived(ProximityError)

    // This device shares its session.
    case sharingStarted
    /// The adapter or its service went; the transport comes back by itself.
    case sharingInterrupted(reason: String)
    case sharingStopped(SharingEnd)
    case centralConnected(String)
    case centralDisconnected(String)
    case centralSubscribed(String)
    case centralUnsubscribed(String)
    /// Its connection was ended from here.
    case centralHungUp(String, HangUpReason)
    case requestReceived(Requester)
    case requestRefused(Requester, ProximityError)
    case consentAsked(ConsentRequest)
    case consentAnswered(ConsentRequest, ConsentDecision)
    /// Several devices ask, or one came right after another: a press of the button lets nobody in.
    case consentAmbiguous(waiting: Int)
    /// One question is alone again: from now on a press answers it.
    case consentUnambiguous(ConsentRequest)
    case sessionAuthorized(Requester)
    case sessionNotAuthorized(Requester, ProximityError)
    case sessionNotified(Requester, SharingAnswer)
    case sessionNotNotified(Requester, ProximityError)

    // The button.
    case sharingEndRequested(by: ConsentSource)
    case buttonFault(ButtonFault)
    case buttonRecovered
}

extension ProximityEvent {
    /// The state of 8.6 that this event is, if it is one.
    public var state: ProximityState? {
        switch self {
        case .scanStarted: .scanStarted
        case .scanStopped: .scanStopped
        case .deviceDetected: .deviceDetected
        case .deviceConnected: .deviceConnected
        case .deviceDisconnected: .deviceDisconnected
        case .serviceDiscovered: .serviceDiscovered
        case .characteristicFound: .characteristicFound
        case .requestWritten: .characteristicWritten
        case .loginSucceeded: .authorizationSucceeded
        case .loginFailed: .authorizationFailed
        case .centralConnected: .centralConnected
        case .centralDisconnected: .centralDisconnected
        case .sharingStarted: .sharingStarted
        case .sharingStopped: .sharingStopped
        case .sessionAuthorized: .sessionAuthorized
        case .sessionNotified: .sessionNotified
        case .sharingInterrupted: .unknown
        default: nil
        }
    }

    /// The name of the second reference client's notification (13.2).
    public var notification: String? {
        switch self {
        case .qrCodeShown: "MASProximityLoginQRCodeDidStartDisplayingQRCodeImage"
        case .qrCodeHidden: "MASProximityLoginQRCodeDidStopDisplayingQRCodeImage"
        case .authorizationCodeReceived: "MASDeviceDidReceiveAuthorizationCodeFromProximityLoginNotification"
        case .authorizationErrorReceived: "MASDeviceDidReceiveErrorFromProximityLoginNotification"
        default: nil
        }
    }

    /// The error that this event tells of.
    public var error: ProximityError? {
        switch self {
        case .deviceTooFar(_, let rssi, let least): .signalTooWeak(rssi: rssi, least: least)
        case .sharingInterrupted(let reason): .interrupted(reason: reason)
        case .deviceFailed(_, let error), .loginFailed(let error), .authorizationErrorReceived(let error),
            .requestRefused(_, let error), .sessionNotAuthorized(_, let error), .sessionNotNotified(_, let error): error
        default: nil
        }
    }

    /// The numbers of 8.6: of the error where it tells of one, else of the state.
    public var numbers: ErrorNumbers? {
        if case .sharingInterrupted = self { return ErrorNumbers(ios: ProximityState.unknown.iosNumber) }
        if let state { return ErrorNumbers(android: state.androidNumber, ios: state.iosNumber) }
        return error?.numbers
    }
}
