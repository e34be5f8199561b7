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
/// and neither does a button that is stuck or gone.
///
/// All times are those of the button's edges, on one scale, the clock's. That time has passed is known only by what was
/// watched: ``expire(at:)`` takes the time before which every edge has been told, never the time of a timer.
public struct ButtonGestures: Sendable {
    public struct Timing: Sendable {
        /// From when a press refuses.
        public var long = Duration.milliseconds(1500)
        /// The end of a press and the begin of the second one of a pair are less than this apart.
        public var pair = Duration.milliseconds(400)
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
        askedAt = now
        if let fault { return [.fault(fault)] }
        return press == nil ? [] : report(.downWhenAsked)
    }

    /// The question has been answered, however.
    public mutating func close() { askedAt = nil }

    public mutating func pressed(at time: Duration) -> [Outcome] {
        var outcomes = expire(at: time)
        guard fault != .missing else { return outcomes }
        press = Press(begin: time)
        guard tap != nil else { return outcomes }
        // The second of a pair: the time for it had not passed.
        tap = nil
        press?.isSpent = true
        outcomes.append(.endSharing)
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

    /// From when ``expire(at:)`` has something to say, unless an edge comes before; `nil` while nothing is under way.
    public var deadline: Duration? {
        var deadlines: [Duration] = []
        if let press {
            if !press.isSpent { deadlines.append(press.begin + timing.long) }
            if fault == nil { deadlines.append(press.begin + timing.stuck) }
        }
        if let tap { deadlines.append(tap.end + timing.pair) }
        return deadlines.min()
    }

    /// - Parameter time: every edge before it has been told.
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
