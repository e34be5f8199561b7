/// Why the button cannot be used.
public enum ButtonFault: String, Sendable {
    /// It was down when a question was asked.
    case downWhenAsked = "down-when-asked"
    /// It has been down for longer than anybody presses.
    case stuck
    case missing

    public var text: String {
        switch self {
        case .downWhenAsked: "it was pressed before it was asked"
        case .stuck: "it is stuck"
        case .missing: "it is not there"
        }
    }
}

/// Reads what a person means from when the button goes down and up.
///
/// A short press grants, but only when no second one followed in time; a press that is held refuses, as soon as it has
/// been held for long enough; two presses end sharing. A press that began before the question was asked answers nothing,
/// and neither does a button that is stuck or gone. All times are on one scale, the clock's.
public struct ButtonGestures: Sendable {
    public struct Timing: Sendable {
        /// From when a press refuses.
        public var long = Duration.milliseconds(1500)
        /// Between the end of a press and the begin of the second one of a pair.
        public var pair = Duration.milliseconds(400)
        /// How much later than it happened a press may be told of: debouncing takes time.
        public var settling = Duration.milliseconds(100)
        /// From when the button is stuck.
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
        /// It has its meaning, or has none: what follows of it says nothing more.
        var isSpent = false
    }

    private let timing: Timing
    private var askedAt: Duration?
    private var press: Press?
    private var tap: (begin: Duration, end: Duration)?
    private(set) var fault: ButtonFault?

    public init(timing: Timing = Timing()) { self.timing = timing }

    /// A question is asked from now on.
    public mutating func ask(at now: Duration) -> [Outcome] {
        let outcomes = expire(at: now)
        askedAt = now
        if let fault { return outcomes + [.fault(fault)] }
        return press == nil ? outcomes : outcomes + report(.downWhenAsked)
    }

    /// The question has been answered, however.
    public mutating func close() { askedAt = nil }

    public mutating func pressed(at time: Duration) -> [Outcome] {
        var outcomes = expire(at: time)
        guard fault != .missing else { return outcomes }
        press = Press(begin: time)
        guard let tap else { return outcomes }
        self.tap = nil
        if time - tap.end <= timing.pair {
            press?.isSpent = true
            outcomes.append(.endSharing)
        } else {
            outcomes += answer(.grant, by: tap.begin)
        }
        return outcomes
    }

    /// It was down when it began to be watched: that press means nothing, however it ends.
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

    /// When ``expire(at:)`` has something to say; `nil` while nothing is under way.
    public var deadline: Duration? {
        var deadlines: [Duration] = []
        if let press {
            if !press.isSpent { deadlines.append(press.begin + timing.long) }
            if fault == nil { deadlines.append(press.begin + timing.stuck) }
        }
        if let tap { deadlines.append(tap.end + timing.pair + timing.settling) }
        return deadlines.min()
    }

    public mutating func expire(at now: Duration) -> [Outcome] {
        var outcomes: [Outcome] = []
        if let tap, now >= tap.end + timing.pair + timing.settling {
            self.tap = nil
            outcomes += answer(.grant, by: tap.begin)
        }
        if let press {
            if !press.isSpent, now >= press.begin + timing.long {
                self.press?.isSpent = true
                outcomes += answer(.refuse, by: press.begin)
            }
            if fault == nil, now >= press.begin + timing.stuck { outcomes += report(.stuck) }
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
