import Glibc
import Synchronization

/// Closes connections on which a request does not become complete in time, even if a byte arrives now and then.
///
/// Sleeps while no connection waits for the rest of a request.
final class RequestDeadlines: Sendable {
    private struct Waiting {
        let since: ContinuousClock.Instant
        /// Whether part of a request has arrived, or the connection is new: its peer is told why it is closed.
        var isOwedAnswer: Bool
    }
    private struct State {
        var waiting: [Int32: Waiting] = [:]
        var isWatched = false
    }
    private let state = Mutex(State())
    private let limit: Duration

    init(limit: Duration) { self.limit = limit }

    /// Starts the time limit for the next request on this connection.
    ///
    /// - Parameter descriptor: the connection's; ``forget(_:)`` has to be called before it is closed.
    func await(_ descriptor: Int32, isNew: Bool) {
        let starts = state.withLock { state in
            state.waiting[descriptor] = Waiting(since: .now, isOwedAnswer: isNew)
            defer { state.isWatched = true }
            return !state.isWatched
        }
        if starts { Task { await watch() } }
    }

    /// Called when the next request has begun.
    func begin(_ descriptor: Int32) { state.withLock { $0.waiting[descriptor]?.isOwedAnswer = true } }

    /// Called when the request is complete or the connection ends.
    func forget(_ descriptor: Int32) { state.withLock { _ = $0.waiting.removeValue(forKey: descriptor) } }

    private func watch() async {
        while let next = closeOverdue() { try? await Task.sleep(until: next, clock: .continuous) }
    }

    /// - Returns: when to check again; `nil` if there is nothing to check.
    private func closeOverdue() -> ContinuousClock.Instant? {
        state.withLock { state in
            let now = ContinuousClock.now
            for (descriptor, waiting) in state.waiting where waiting.since + limit <= now {
                // Under the lock, so that the descriptor is still this connection's.
                if waiting.isOwedAnswer { RawAnswer(LocalAPIError.requestTooSlow(limit: limit)).write(to: descriptor) }
                shutdown(descriptor, Int32(SHUT_RDWR))
                state.waiting[descriptor] = nil
            }
            let next = state.waiting.values.map { $0.since + limit }.min()
            state.isWatched = next != nil
            return next
        }
    }
}
