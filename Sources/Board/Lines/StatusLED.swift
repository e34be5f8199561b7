import Groundwork

/// What an LED shows.
public enum LEDPattern: Sendable, Equatable {
    case off
    case on
    /// On and off by turns.
    case blinking(on: Duration, off: Duration)
    /// Some short flashes, then a pause; the count is the message.
    case flashing(times: Int, pause: Duration)

    /// One round of levels and how long each lasts; `nil` for a pattern that stands still.
    var round: [(isOn: Bool, lasts: Duration)]? {
        switch self {
        case .off, .on: return nil
        case .blinking(let on, let off): return [(true, Self.atLeast(on)), (false, Self.atLeast(off))]
        case .flashing(let times, let pause):
            guard times > 0 else { return nil }
            let flash = Duration.milliseconds(150)
            let flashes = (1...min(times, 16)).flatMap { _ in [(isOn: true, lasts: flash), (isOn: false, lasts: flash)]
            }
            return flashes.dropLast() + [(false, Self.atLeast(pause))]
        }
    }

    /// Faster is neither seen nor worth the wake-ups.
    private static func atLeast(_ duration: Duration) -> Duration { max(duration, .milliseconds(50)) }
}

/// The board's status LED. A pattern that stands still costs no wake-ups.
public actor StatusLED {
    public nonisolated let definition: LineDefinition
    /// The line to look at from a program when the definition says that the LED is simulated.
    public nonisolated let simulated: SimulatedLine?

    public private(set) var pattern = LEDPattern.off
    private var revision = 0
    private let changes = Broadcast<Void>()
    private let machine: Machine
    private let clock: any SteadyClock

    public init(
        _ definition: LineDefinition, on machine: Machine = Machine(), clock: any SteadyClock = MonotonicClock()
    ) {
        self.definition = definition
        self.machine = machine
        self.clock = clock
        simulated = definition.place == .simulated ? SimulatedLine(clock: clock) : nil
    }

    /// Shows this from now on, once ``run()`` has the line.
    public func show(_ pattern: LEDPattern) {
        guard pattern != self.pattern else { return }
        self.pattern = pattern
        revision += 1
        changes.send(())
    }

    /// Drives the line until cancelled, then leaves it dark. Takes hold of it at the start and lets go of it at the
    /// end; may be called again.
    ///
    /// - Throws: ``BoardError`` when the line cannot be had or is lost, `CancellationError`
    public func run() async throws {
        let line = try openLine()
        defer { try? line.set(active: false) }
        while true {
            let (pattern, shown) = (pattern, revision)
            try await withThrowingTaskGroup(of: Bool.self) { group in
                group.addTask {
                    try await self.play(pattern, on: line)
                    return false
                }
                group.addTask {
                    await self.waitForChange(since: shown)
                    return true
                }
                while try await group.next() == false {}
                group.cancelAll()
            }
            try Task.checkCancellation()
        }
    }

    private func openLine() throws(BoardError) -> any OutputLine {
        switch definition.place {
        case .simulated: simulated ?? SimulatedLine(clock: clock)
        case .gpio(let chip, let line):
            try GPIOLine(chip: chip, line: line, of: definition, isOutput: true, on: machine)
        }
    }

    /// Returns when there is nothing more to do for the pattern.
    private func play(_ pattern: LEDPattern, on line: any OutputLine) async throws {
        guard let round = pattern.round else {
            try line.set(active: pattern == .on)
            return
        }
        var next = clock.now
        while true {
            for step in round {
                try line.set(active: step.isOn)
                // From the last step's end, not from now: the rhythm keeps.
                next = max(next + step.lasts, clock.now)
                try await clock.sleep(until: next)
            }
        }
    }

    private func waitForChange(since shown: Int) async {
        guard revision == shown else { return }
        for await _ in changes.subscribe(bound: 1) { return }
    }
}
