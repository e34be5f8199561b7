/// A mutex for code that suspends: only one task at a time holds it, in the order of their calls.
///
/// An actor alone cannot do that: it runs the next call while one is suspended. Not recursive; cancellation does not
/// end a wait.
public final class AsyncMutex: Sendable {
    private let isLocked = AsyncCondition(false)

    public init() {}

    /// Waits for earlier callers. The caller then holds the lock until ``unlock()``.
    public func lock() async {
        await isLocked.wait { isLocked -> Void? in
            guard !isLocked else { return nil }
            isLocked = true
            return ()
        }
    }

    /// Passes the lock to the task that has waited longest. Only the lock holder may call it.
    public func unlock() { isLocked.change { $0 = false } }
}
