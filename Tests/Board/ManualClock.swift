import Board
import Synchronization

/// A clock that moves when the test says so.
final class ManualClock: SteadyClock {
    private struct Sleeper {
        let id: Int
        let deadline: Duration
        let continuation: CheckedContinuation<Void, any Error>
    }
    private struct State {
        var now = Duration.seconds(1000)
        var nextID = 0
        var sleepers: [Sleeper] = []
        var watchers: [CheckedContinuation<Duration, Never>] = []
    }
    private let state = Mutex(State())

    var now: Duration { state.withLock { $0.now } }

    func sleep(until deadline: Duration) async throws {
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
                    for watcher in state.watchers { watcher.resume(returning: deadline) }
                    state.watchers = []
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                let index = state.sleepers.firstIndex { $0.id == id }
                return index.map { state.sleepers.remove(at: $0) }
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    /// The deadline of a sleeper, once there is one.
    func sleeper() async -> Duration {
        await withCheckedContinuation { continuation in
            let deadline: Duration? = state.withLock { state in
                if let deadline = state.sleepers.map(\.deadline).min() { return deadline }
                state.watchers.append(continuation)
                return nil
            }
            if let deadline { continuation.resume(returning: deadline) }
        }
    }

    func advance(to time: Duration) {
        let awake = state.withLock { state in
            state.now = max(state.now, time)
            let awake = state.sleepers.filter { $0.deadline <= state.now }
            state.sleepers.removeAll { $0.deadline <= state.now }
            return awake
        }
        for sleeper in awake { sleeper.continuation.resume() }
    }

    func advance(by duration: Duration) { advance(to: now + duration) }

    /// Moves to when the next sleeper wants to wake up.
    func advanceToSleeper() async { advance(to: await sleeper()) }
}
