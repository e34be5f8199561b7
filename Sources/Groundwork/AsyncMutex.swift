import Synchronization

/// A mutex for code that suspends: lets tasks through one at a time, in the order in which they came.
///
/// An actor alone does not: it takes the next call while one waits. Not recursive, and not ended by cancellation.
public final class AsyncMutex: Sendable {
    private struct State {
        var isLocked = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }
    private let state = Mutex(State())

    public init() {}

    /// Waits for those who came before. The caller holds the lock until ``unlock()``.
    public func lock() async {
        await withCheckedContinuation { continuation in
            let isMine = state.withLock { state in
                guard state.isLocked else {
                    state.isLocked = true
                    return true
                }
                state.waiting.append(continuation)
                return false
            }
            if isMine { continuation.resume() }
        }
    }

    /// Hands the lock to the task that has waited longest. Only by the lock holder.
    public func unlock() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard !state.waiting.isEmpty else {
                state.isLocked = false
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}
