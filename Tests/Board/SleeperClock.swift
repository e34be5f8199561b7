import Board
import TestSupport

extension ManualClock: SteadyClock {
    package func sleep(until deadline: Duration, isolation: isolated (any Actor)?) async throws {
        try await sleep(until: deadline)
    }

    /// Moves to when the next sleeper wants to wake up.
    func moveToSleeper() async { move(to: await sleeper()) }
}
