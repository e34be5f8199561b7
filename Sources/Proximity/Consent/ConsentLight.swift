/// The light of the board's LED for the person who is asked.
public enum ConsentLight: Sendable, Equatable, CaseIterable {
    case waiting
    /// Several devices ask: a press authorizes none.
    case ambiguous
    case granted
    case refused

    /// The LED's pattern, which the agent plays.
    public enum Pattern: Sendable, Equatable {
        case on
        case blinking(on: Duration, off: Duration)
    }

    public var pattern: Pattern {
        switch self {
        case .waiting: .blinking(on: .milliseconds(250), off: .milliseconds(250))
        case .ambiguous: .blinking(on: .milliseconds(80), off: .milliseconds(920))
        case .granted: .on
        case .refused: .blinking(on: .milliseconds(80), off: .milliseconds(80))
        }
    }

    /// How long it is shown before the LED returns to its previous light; `nil` means until the next event.
    public var lasts: Duration? {
        switch self {
        case .waiting, .ambiguous: nil
        case .granted, .refused: .seconds(2)
        }
    }
}

/// Chooses the light for each event. A request that is turned away while another one waits for its answer must not look
/// like that answer.
public struct ConsentLightChoice: Sendable {
    private var asked: Int?

    public init() {}

    /// The light to show from now on; `nil` if the event does not change it.
    public mutating func take(_ event: ProximityEvent) -> ConsentLight? {
        switch event {
        case .consentAsked(let request):
            asked = request.id
            return .waiting
        case .consentAmbiguous: return .ambiguous
        case .consentUnambiguous(let request):
            asked = request.id
            return .waiting
        case .consentAnswered(let request, let decision):
            // A request that the policy granted was never asked about.
            guard asked == request.id || asked == nil && decision.isGranted else { return nil }
            asked = nil
            return decision.isGranted ? .granted : .refused
        case .scanStarted, .scanStopped, .deviceDetected, .deviceTooFar, .deviceConnected, .deviceFailed,
            .deviceDisconnected, .serviceDiscovered, .characteristicFound, .requestWritten, .polled, .loginSucceeded,
            .loginFailed, .qrCodeShown, .qrCodeHidden, .authorizationCodeReceived, .authorizationErrorReceived,
            .sharingStarted, .sharingInterrupted, .sharingStopped, .centralConnected, .centralDisconnected,
            .centralSubscribed, .centralUnsubscribed, .centralHungUp, .requestReceived, .requestRefused,
            .sessionAuthorized, .sessionNotAuthorized, .sessionNotified, .sessionNotNotified, .sharingEndRequested,
            .buttonFault, .buttonRecovered:
            return nil
        }
    }
}
