import Groundwork

/// What a person did to the button. Times are on the scale of ``SteadyClock``.
public enum ButtonEvent: Sendable, Equatable {
    case pressed(at: Duration)
    /// It was down already when it began to be watched: no press, and stuck if that lasts.
    case foundDown(at: Duration)
    /// - Parameter held: how long it was down, as far as it was watched.
    case released(at: Duration, held: Duration)
}

/// The board's button, debounced.
public actor Button {
    public nonisolated let definition: LineDefinition
    /// The line to press from a program when the definition says that the button is simulated.
    public nonisolated let simulated: SimulatedLine?
    public nonisolated let events = Broadcast<ButtonEvent>()

    private let machine: Machine
    private let clock: any SteadyClock

    public init(_ definition: LineDefinition, on machine: Machine = Machine(), clock: any SteadyClock = MonotonicClock()) {
        self.definition = definition
        self.machine = machine
        self.clock = clock
        simulated = definition.place == .simulated ? SimulatedLine(clock: clock) : nil
    }

    /// Watches the line until cancelled. Takes hold of it at the start and lets go of it at the end; may be called
    /// again.
    ///
    /// - Throws: ``BoardError`` when the line cannot be had or is lost, `CancellationError`
    public func run() async throws {
        try await watch(try openLine())
    }

    private func openLine() throws(BoardError) -> any InputLine {
        switch definition.place {
        case .simulated: simulated ?? SimulatedLine(clock: clock)
        case .gpio(let chip, let line):
            try GPIOLine(chip: chip, line: line, of: definition, isOutput: false, on: machine)
        }
    }

    private func watch(_ line: any InputLine) async throws {
        let isDown = try line.isActive()
        var debouncer = Debouncer(rest: definition.debounce, isActive: isDown, at: clock.now)
        if isDown { events.send(.foundDown(at: clock.now)) }
        while true {
            await line.waitForEdge()
            try Task.checkCancellation()
            // The edges of a burst are left to the kernel until it may be over: noise wakes the agent once per debounce
            // time.
            while let edges = try line.takeEdges() {
                debouncer.moved(edges)
                if let deadline = debouncer.deadline { try await clock.sleep(until: deadline) }
            }
            if let event = debouncer.rested(isActive: try line.isActive()) { events.send(event) }
        }
    }
}
