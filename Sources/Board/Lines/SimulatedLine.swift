import Synchronization

/// A button or an LED without hardware: pressed by a program, seen by a program.
///
/// Its edges carry time stamps of their own, as the kernel's do. Those of a press of a stated length are set when it
/// begins: however late the end is noticed, the press was as long as it was meant to be.
public final class SimulatedLine: InputLine, OutputLine {
    private struct State {
        /// The level before the first of `edges`.
        var level = false
        /// Those that were not taken, the oldest first. The last may be still to come.
        var edges: [LineEdge] = []
        var hasLost = false
        var waiter: CheckedContinuation<Void, Never>?

        func isActive(at now: Duration) -> Bool { edges.last { $0.time <= now }?.isActive ?? level }

        /// What was to come is not any more.
        mutating func forget(after now: Duration) { edges.removeAll { $0.time > now } }

        mutating func add(_ edge: LineEdge) {
            if edges.count == SimulatedLine.capacity {
                level = edges.removeFirst().isActive
                hasLost = true
            }
            edges.append(edge)
        }

        mutating func take(until now: Duration) -> LineEdges? {
            let due = edges.prefix { $0.time <= now }
            guard let last = due.last else { return nil }
            level = last.isActive
            edges.removeFirst(due.count)
            defer { hasLost = false }
            return LineEdges(Array(due), lostUntil: hasLost ? now : nil)
        }
    }

    /// The most edges that wait, as many as the kernel keeps of a line; the oldest are lost beyond it.
    private static let capacity = 16

    private let state = Mutex(State())
    private let clock: any SteadyClock

    public init(clock: any SteadyClock = MonotonicClock()) {
        self.clock = clock
    }

    /// Presses the button or lets it go; lights the LED or puts it out.
    public func set(active: Bool) {
        state.withLock { state in
            let now = clock.now
            state.forget(after: now)
            if state.isActive(at: now) != active { state.add(LineEdge(time: now, isActive: active)) }
        }
        wake()
    }

    /// Presses the button, which is let go by itself after `duration`; one that is down is let go then.
    public func press(for duration: Duration) {
        let end = state.withLock { state in
            let now = clock.now
            state.forget(after: now)
            if !state.isActive(at: now) { state.add(LineEdge(time: now, isActive: true)) }
            state.add(LineEdge(time: now + duration, isActive: false))
            return now + duration
        }
        wake()
        Task { [clock, weak self] in
            try await clock.sleep(until: end)
            self?.wake()
        }
    }

    public func isActive() -> Bool { state.withLock { $0.isActive(at: clock.now) } }

    public func takeEdges() -> LineEdges? { state.withLock { $0.take(until: clock.now) } }

    /// Whether somebody waits for an edge.
    var isAwaited: Bool { state.withLock { $0.waiter != nil } }

    public func waitForEdge() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    // A cancellation from here on finds the continuation; one before is seen.
                    if Task.isCancelled || state.edges.first.map({ $0.time <= clock.now }) == true { return true }
                    state.waiter = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            wake()
        }
    }

    private func wake() {
        let waiter = state.withLock { state in
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }
}
