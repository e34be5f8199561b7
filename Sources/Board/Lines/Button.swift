import Groundwork

/// The board's button, debounced.
public actor Button {
    public nonisolated let definition: LineDefinition
    /// The line to press from a program when the definition says that the button is simulated.
    public nonisolated let simulated: SimulatedLine?
    public nonisolated let updates = Broadcast<ButtonUpdate>()

    private let machine: Machine
    private let clock: any SteadyClock
    /// While it is watched.
    private var watch: (line: any InputLine, debouncer: Debouncer)?

    public init(
        _ definition: LineDefinition, on machine: Machine = Machine(), clock: any SteadyClock = MonotonicClock()
    ) {
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
        let line = try openLine()
        let isDown = try line.isActive()
        watch = (line, Debouncer(rest: definition.debounce, isActive: isDown, at: clock.now))
        defer { watch = nil }
        if isDown { send([.foundDown(at: clock.now)]) }
        while true {
            await line.waitForEdge()
            try Task.checkCancellation()
            try await settle()
        }
    }

    /// Sends what has happened up to now, and that it is all: ``ButtonUpdate/watched(until:)``.
    ///
    /// A timer knows that time has passed, but not whether the button was let go before: on a busy machine the edge may
    /// not have been handled yet. Does nothing while the button is not watched.
    ///
    /// - Throws: ``BoardError`` when the line is lost, `CancellationError`
    public func look() async throws {
        if let time = try await settle() { updates.send(.watched(until: time)) }
    }

    private func openLine() throws(BoardError) -> any InputLine {
        switch definition.place {
        case .simulated: simulated ?? SimulatedLine(clock: clock)
        case .gpio(let chip, let line):
            try GPIOLine(chip: chip, line: line, of: definition, isOutput: false, on: machine)
        }
    }

    /// Handles all edges there are, once the line has rested after the newest of them.
    ///
    /// The edges of a burst are left to the kernel until it may be over: noise wakes the agent once per debounce time.
    ///
    /// - Returns: up to when all edges are handled; `nil` when the button is not watched.
    @discardableResult
    private func settle() async throws -> Duration? {
        while let line = watch?.line {
            let now = clock.now
            // Before the edges: where none follows, this is the level they led to.
            let level = try line.isActive()
            if let edges = try line.takeEdges() {
                send(watch?.debouncer.moved(edges))
            } else if let deadline = watch?.debouncer.deadline, deadline <= now {
                send(watch?.debouncer.rested(isActive: level))
            }
            guard let deadline = watch?.debouncer.deadline else { return now }
            try await clock.sleep(until: deadline)
        }
        return nil
    }

    private func send(_ happened: [ButtonEvent]?) {
        for event in happened ?? [] { updates.send(.happened(event)) }
    }
}
