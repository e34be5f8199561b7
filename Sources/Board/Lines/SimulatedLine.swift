import Groundwork
import Synchronization

/// A button or an LED without hardware: programs press it or look at it.
///
/// Its edges carry time stamps of their own, as the kernel's do. Both edges of a press with a stated length are set
/// when it begins: however late the end is noticed, the press is as long as stated.
public final class SimulatedLine: InputLine, OutputLine {
    private struct State {
        /// The level before the first of `edges`.
        var level = false
        /// Edges that were not taken yet, the oldest first. The last may lie in the future.
        var edges: [LineEdge] = []
        var hasLostEdges = false
        var waiter: CheckedContinuation<Void, Never>?

        func isActive(at now: Duration) -> Bool { edges.last { $0.time <= now }?.isActive ?? level }

        /// Cancels edges that lie in the future.
        mutating func forget(after now: Duration) { edges.removeAll { $0.time > now } }

        mutating func add(_ edge: LineEdge) {
            if edges.count == SimulatedLine.capacity {
                level = edges.removeFirst().isActive
                hasLostEdges = true
            }
            edges.append(edge)
        }

        mutating func take(until now: Duration) -> LineEdges? {
            let due = edges.prefix { $0.time <= now }
            guard let last = due.last else { return nil }
            level = last.isActive
            edges.removeFirst(due.count)
            defer { hasLostEdges = false }
            return LineEdges(Array(due), lostUntil: hasLostEdges ? now : nil)
        }
    }

    /// The most pending edges, as many as the kernel keeps for a line; beyond it the oldest are lost.
    private static let capacity = 16

    private let state = Mutex(State())
    private let clock: any SteadyClock

    public init(clock: any SteadyClock = MonotonicClock()) {
        self.clock = clock
    }

    /// Presses or releases the button; turns the LED on or off.
    public func set(active: Bool) {
        state.withLock { state in
            let now = clock.now
            state.forget(after: now)
            if state.isActive(at: now) != active { state.add(LineEdge(time: now, isActive: active)) }
        }
        wake()
    }

    /// Presses the button and releases it after `duration`; if it is already down, only the release follows.
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

    /// Whether a task waits for an edge.
    var isAwaited: Bool { state.withLock { $0.waiter != nil } }

    public func waitForEdge() async {
        await withCancellableContinuation { continuation in
            let isReady = state.withLock { state in
                // A cancellation from here on finds the continuation; an earlier one is seen here.
                if Task.isCancelled || state.edges.first.map({ $0.time <= clock.now }) == true { return true }
                state.waiter = continuation
                return false
            }
            if isReady { continuation.resume() }
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
