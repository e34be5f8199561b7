/// Why the button cannot be used.
public enum ButtonFault: String, Sendable {
    /// The button was down when a question was asked.
    case downWhenAsked = "down-when-asked"
    /// The button has been down for longer than any normal press.
    case stuck
    case missing

    public var text: String {
        switch self {
        case .downWhenAsked: "it was pressed before it was asked"
        case .stuck: "it is stuck"
        case .missing: "it is missing"
        }
    }
}

/// Recognizes gestures from the times when the button goes down and up.
///
/// A short press grants, but only if no second one follows in time; a long press refuses as soon as it has been held
/// long enough; a double press ends sharing. A press that began before the question was asked does not answer it, and
/// neither does a button that is stuck or missing.
///
/// All times are those of the button's edges, on the clock's scale. A gesture times out only when no edge can still be
/// pending: ``expire(at:)`` takes the time before which every edge has been reported, never the time of a timer.
public struct ButtonGestures: Sendable {
    public struct Timing: Sendable {
        /// How long a press must be held to refuse.
        public var long = Duration.milliseconds(1500)
        /// The maximum time between the two presses of a pair, from the end of the first to the beginning of the
        /// second.
        public var pair = Duration.milliseconds(400)
        /// How long the button must be down to count as stuck.
        public var stuck = Duration.seconds(10)

        public init() {}
    }

    public enum Outcome: Sendable, Equatable {
        case grant
        case refuse
        case endSharing
        case fault(ButtonFault)
        case recovered
    }

    private struct Press {
        var begin: Duration
        /// Whether the press has already had its effect, or has none: the rest of it is ignored.
        var isSpent = false
    }

    private let timing: Timing
    private var askedAt: Duration?
    private var press: Press?
    private var tap: (begin: Duration, end: Duration)?
    private(set) var fault: ButtonFault?

    public init(timing: Timing = Timing()) { self.timing = timing }

    /// Begins a question.
    public mutating func ask(at now: Duration) -> [Outcome] {
        askedAt = now
        if let fault { return [.fault(fault)] }
        return press == nil ? [] : report(.downWhenAsked)
    }

    /// Ends the question, whatever the answer.
    public mutating func close() { askedAt = nil }

    public mutating func pressed(at time: Duration) -> [Outcome] {
        var outcomes = expire(at: time)
        guard fault != .missing else { return outcomes }
        press = Press(begin: time)
        guard tap != nil else { return outcomes }
        // The second press of a pair, still in time.
        tap = nil
        press?.isSpent = true
        outcomes.append(.endSharing)
        return outcomes
    }

    /// The button was down when watching began: that press is ignored, however it ends.
    public mutating func foundDown(at time: Duration) -> [Outcome] {
        let outcomes = expire(at: time)
        guard fault == nil else { return outcomes }
        tap = nil
        press = Press(begin: time, isSpent: true)
        return askedAt == nil ? outcomes : outcomes + report(.downWhenAsked)
    }

    public mutating func released(at time: Duration) -> [Outcome] {
        var outcomes = expire(at: time)
        guard let press else { return outcomes }
        self.press = nil
        if fault != nil {
            fault = nil
            outcomes.append(.recovered)
        } else if !press.isSpent {
            tap = (press.begin, time)
        }
        return outcomes
    }

    /// The button's line cannot be watched.
    public mutating func lost() -> [Outcome] {
        press = nil
        tap = nil
        guard fault != .missing else { return [] }
        return report(.missing)
    }

    public mutating func found() -> [Outcome] {
        guard fault == .missing else { return [] }
        fault = nil
        return [.recovered]
    }

    /// When to call ``expire(at:)`` next, unless an edge comes before; `nil` if no gesture is in progress.
    public var deadline: Duration? {
        var deadlines: [Duration] = []
        if let press {
            if !press.isSpent { deadlines.append(press.begin + timing.long) }
            if fault == nil { deadlines.append(press.begin + timing.stuck) }
        }
        if let tap { deadlines.append(tap.end + timing.pair) }
        return deadlines.min()
    }

    /// - Parameter time: every edge before it has been reported.
    public mutating func expire(at time: Duration) -> [Outcome] {
        var outcomes: [Outcome] = []
        if let tap, time >= tap.end + timing.pair {
            self.tap = nil
            outcomes += answer(.grant, by: tap.begin)
        }
        if let press {
            if !press.isSpent, time >= press.begin + timing.long {
                self.press?.isSpent = true
                outcomes += answer(.refuse, by: press.begin)
            }
            if fault == nil, time >= press.begin + timing.stuck { outcomes += report(.stuck) }
        }
        return outcomes
    }

    private func answer(_ outcome: Outcome, by begin: Duration) -> [Outcome] {
        guard let askedAt, begin >= askedAt else { return [] }
        return [outcome]
    }

    private mutating func report(_ fault: ButtonFault) -> [Outcome] {
        self.fault = fault
        press?.isSpent = true
        return [.fault(fault)]
    }
}
