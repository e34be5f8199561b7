import Groundwork

/// What a person did to the button. Times are on the scale of ``SteadyClock``.
public enum ButtonEvent: Sendable, Equatable {
    case pressed(at: Duration)
    /// It was down already when it began to be watched: no press, and stuck if that lasts.
    case foundDown(at: Duration)
    /// - Parameter held: how long it was down, as far as it was watched.
    case released(at: Duration, held: Duration)
}

extension ButtonEvent: ReportedEvent {
    public var report: EventReport {
        switch self {
        case .pressed: EventReport("button.pressed", .notable)
        case .foundDown: EventReport("button.found-down", .notable)
        case .released(_, let held):
            EventReport(
                "button.released", .notable, nil,
                [
                    "heldMilliseconds": .integer(Int64(held / .milliseconds(1)))
                ])
        }
    }
}

/// What is known of the button, in the order of time.
public enum ButtonUpdate: Sendable, Equatable {
    case happened(ButtonEvent)
    /// Everything that happened before this time has been sent: the answer to ``Button/look()``.
    case watched(until: Duration)
}
