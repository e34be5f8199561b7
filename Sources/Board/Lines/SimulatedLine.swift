import Synchronization

/// A button or an LED without hardware: pressed by a program, seen by a program.
public final class SimulatedLine: InputLine, OutputLine {
    private struct State {
        var isActive = false
        var burst: EdgeBurst?
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())
    private let clock: any SteadyClock

    public init(clock: any SteadyClock = MonotonicClock()) {
        self.clock = clock
    }

    /// Presses the button or lets it go; lights the LED or puts it out.
    public func set(active: Bool) {
        let waiter: CheckedContinuation<Void, Never>? = state.withLock { state in
            guard state.isActive != active else { return nil }
            let now = clock.now
            state.isActive = active
            state.burst = EdgeBurst(first: state.burst?.first ?? now, newest: now)
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    public func isActive() -> Bool { state.withLock { $0.isActive } }

    public func takeEdges() -> EdgeBurst? {
        state.withLock { state in
            defer { state.burst = nil }
            return state.burst
        }
    }

    /// Whether somebody waits for an edge.
    var isAwaited: Bool { state.withLock { $0.waiter != nil } }

    public func waitForEdge() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    // A cancellation from here on finds the continuation; one before is seen.
                    guard state.burst == nil, !Task.isCancelled else { return true }
                    state.waiter = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                defer { state.waiter = nil }
                return state.waiter
            }
            waiter?.resume()
        }
    }
}
