import Bluetooth
import Groundwork
import Prompts

/// An event of a login with a nearby device.
public enum ProximityEvent: Sendable, Equatable {
    // This device logs in, over Bluetooth.
    case scanStarted
    case scanStopped
    case deviceDetected(address: String, rssi: Int, name: String?)
    /// The device is too far away to be asked.
    case deviceTooFar(address: String, rssi: Int, least: Int)
    case deviceConnected(address: String)
    case deviceFailed(address: String, ProximityError)
    case deviceDisconnected(address: String)
    case serviceDiscovered(address: String)
    case characteristicFound(address: String)
    case requestWritten(address: String, pieces: Int)
    /// The gateway was asked whether the other device authorized this one.
    case polled(attempt: Int, of: Int)
    case loginSucceeded(userName: String)
    case loginFailed(ProximityError)

    // This device logs in by a QR code (MAG 13.2).
    /// How long the code can be scanned.
    case qrCodeShown(seconds: Int)
    case qrCodeHidden
    case authorizationCodeReceived
    case authorizationErrorReceived(ProximityError)

    // This device shares its session.
    case sharingStarted
    /// The adapter or its service was lost; the transport recovers by itself.
    case sharingInterrupted(reason: String)
    case sharingStopped(SharingEnd)
    case centralConnected(String)
    case centralDisconnected(String)
    case centralSubscribed(String)
    case centralUnsubscribed(String)
    /// This device ended the central's connection.
    case centralHungUp(String, HangUpReason)
    case requestReceived(Requester)
    case requestRefused(Requester, ProximityError)
    case consentAsked(ConsentRequest)
    case consentAnswered(ConsentRequest, ConsentDecision)
    /// Several devices ask, or one came right after another: a press of the button authorizes none.
    case consentAmbiguous(waiting: Int)
    /// Only one question is left: from now on a press answers it.
    case consentUnambiguous(ConsentRequest)
    case sessionAuthorized(Requester)
    case sessionNotAuthorized(Requester, ProximityError)
    case sessionNotified(Requester, SharingAnswer)
    case sessionNotNotified(Requester, ProximityError)

    // The button of this device.
    case sharingEndRequested(by: Answerer)
    case buttonFault(ButtonFault)
    case buttonRecovered
}
