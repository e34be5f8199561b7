import Groundwork

/// The board's button, debounced.
public final actor Button {
    public nonisolated let definition: LineDefinition
    /// The line through which a program presses the button, if the definition says that it is simulated.
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

    /// Watches the line until canceled. Requests it at the start and releases it at the end; may be called again.
    ///
    /// - Throws: ``BoardError`` if the line cannot be requested or is lost, `CancellationError`
    public func run() async throws {
        let line = try definition.openInput(on: machine, simulated: simulated ?? SimulatedLine(clock: clock))
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

    /// Sends everything that has happened up to now, then ``ButtonUpdate/watched(until:)``.
    ///
    /// A timer knows that time has passed, but not whether the button was released before: on a busy machine the edge
    /// may not have been handled yet. Does nothing while the button is not watched.
    ///
    /// - Throws: ``BoardError`` when the line is lost, `CancellationError`
    public func look() async throws {
        if let time = try await settle() { updates.send(.watched(until: time)) }
    }

    /// Handles all pending edges, once the line has rested after the newest of them.
    ///
    /// The edges of a burst stay in the kernel until it may be over: noise wakes the agent once per debounce time.
    ///
    /// - Returns: up to when all edges are handled; `nil` when the button is not watched.
    @discardableResult
    private func settle() async throws -> Duration? {
        while let line = watch?.line {
            let now = clock.now
            // Read before the edges: if no edge follows, this is the level that they led to.
            let level = try line.isActive()
            if let edges = try line.takeEdges() {
                send(watch?.debouncer.handleEdges(edges))
            } else if let deadline = watch?.debouncer.deadline, deadline <= now {
                send(watch?.debouncer.handleRest(isActive: level))
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
