import Groundwork

/// What an LED shows.
public enum LEDPattern: Sendable, Equatable {
    case off
    case on
    /// Alternately on and off.
    case blinking(on: Duration, off: Duration)
    /// A number of short flashes, then a pause; the number carries the meaning.
    case flashing(times: Int, pause: Duration)

    /// One round of levels and how long each lasts; `nil` for a steady pattern.
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

    /// Anything faster is not visible and not worth the wake-ups.
    private static func atLeast(_ duration: Duration) -> Duration { max(duration, .milliseconds(50)) }
}

/// The board's status LED. A steady pattern costs no wake-ups.
public final actor StatusLED {
    public nonisolated let definition: LineDefinition
    /// The line at which a program sees the LED, if the definition says that it is simulated.
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

    /// Shows the pattern from now on, once ``run()`` has the line.
    public func show(_ pattern: LEDPattern) {
        guard pattern != self.pattern else { return }
        self.pattern = pattern
        revision += 1
        changes.send(())
    }

    /// Drives the line until canceled, then turns it off. Requests it at the start and releases it at the end; may
    /// be called again.
    ///
    /// - Throws: ``BoardError`` if the line cannot be requested or is lost, `CancellationError`
    public func run() async throws {
        let line = try definition.openOutput(on: machine, simulated: simulated ?? SimulatedLine(clock: clock))
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
                // Counted from the last step's end, not from now, so that the rhythm is kept.
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
