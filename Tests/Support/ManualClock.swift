import Synchronization

/// A clock that moves when the test says so.
package final class ManualClock: Sendable {
    private struct Sleeper {
        let id: Int
        let deadline: Duration
        let continuation: CheckedContinuation<Void, any Error>
    }
    private struct State {
        var now = Duration.seconds(1000)
        var nextID = 0
        var sleepers: [Sleeper] = []
        /// For whoever sleeps until then; for anybody where it is `nil`.
        var watchers: [(deadline: Duration?, continuation: CheckedContinuation<Duration, Never>)] = []
    }
    private let state = Mutex(State())

    package init() {}

    package var hasSleeper: Bool { state.withLock { !$0.sleepers.isEmpty } }

    package var now: Duration { state.withLock { $0.now } }

    package func sleep(until deadline: Duration) async throws {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let outcome: Result<Void, any Error>? = state.withLock { state in
                    if Task.isCancelled { return .failure(CancellationError()) }
                    if deadline <= state.now { return .success(()) }
                    state.sleepers.append(Sleeper(id: id, deadline: deadline, continuation: continuation))
                    state.watchers.removeAll { watcher in
                        guard watcher.deadline ?? deadline == deadline else { return false }
                        watcher.continuation.resume(returning: deadline)
                        return true
                    }
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                state.sleepers.firstIndex { $0.id == id }.map { state.sleepers.remove(at: $0) }
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    /// The deadline of the task that wakes up first, once one sleeps; or of one that sleeps until exactly then. Returns
    /// at once in a canceled task, so that a time limit can end the test.
    @discardableResult
    package func sleeper(until wanted: Duration? = nil) async -> Duration {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let deadline: Duration? = state.withLock { state in
                    if Task.isCancelled { return state.now }
                    if let deadline = state.sleepers.map(\.deadline).filter({ $0 == wanted ?? $0 }).min() {
                        return deadline
                    }
                    state.watchers.append((wanted, continuation))
                    return nil
                }
                if let deadline { continuation.resume(returning: deadline) }
            }
        } onCancel: {
            let (watchers, now) = state.withLock { state in
                defer { state.watchers = [] }
                return (state.watchers, state.now)
            }
            for watcher in watchers { watcher.continuation.resume(returning: now) }
        }
    }

    /// Moves on, whoever sleeps.
    package func move(to time: Duration) {
        let awake = state.withLock { state in
            state.now = max(state.now, time)
            let awake = state.sleepers.filter { $0.deadline <= state.now }
            state.sleepers.removeAll { $0.deadline <= state.now }
            return awake
        }
        for sleeper in awake { sleeper.continuation.resume() }
    }

    package func move(by duration: Duration) { move(to: now + duration) }
}
