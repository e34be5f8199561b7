/// What the board's LED tells the person who is asked.
public enum ConsentLight: Sendable, Equatable, CaseIterable {
    case waiting
    /// Several devices ask: a press lets nobody in.
    case ambiguous
    case granted
    case refused

    /// How it looks; the agent plays it.
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

    /// How long it is shown before the LED goes back to what it showed; `nil`: until the next event.
    public var lasts: Duration? {
        switch self {
        case .waiting, .ambiguous: nil
        case .granted, .refused: .seconds(2)
        }
    }
}

/// Chooses the light by what happens. A request that is turned away while another one waits for its answer must not look
/// like that answer.
public struct ConsentLightChoice: Sendable {
    private var asked: Int?

    public init() {}

    /// What to show from now on; `nil` when the event changes nothing.
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
            // One that was granted by the policy was never asked.
            guard asked == request.id || asked == nil && decision.isGranted else { return nil }
            asked = nil
            return decision.isGranted ? .granted : .refused
        default: return nil
        }
    }
}
