public import Groundwork

/// What a person did to the button. Times are on the scale of ``SteadyClock``.
public enum ButtonEvent: Sendable, Equatable {
    case pressed(at: Duration)
    /// It was already down when watching began: not a press, and stuck if that lasts.
    case foundDown(at: Duration)
    /// - Parameter held: how long it was down while being watched.
    case released(at: Duration, held: Duration)
}

extension ButtonEvent: ReportedEvent {
    public static let meanings = [
        "button.found-down": "the board's button was held down when the agent started to watch it",
        "button.pressed": "the board's button was pressed",
        "button.released": "the board's button was released",
    ]

    public static var details: [String: Schema] {
        ["heldMilliseconds": .integer("how long it was pressed")]
    }

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

/// News of the button, in chronological order.
public enum ButtonUpdate: Sendable, Equatable {
    case happened(ButtonEvent)
    /// Everything that happened before this time has been sent: the answer to ``Button/look()``.
    case watched(until: Duration)
}
