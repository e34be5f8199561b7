import Foundation
import Synchronization

/// Two threads that begin their steps at the same moment, again and again, for code that must not deadlock. They are no
/// threads of the tests, so that a deadlock shows as a missing end.
package final class Race: Sendable {
    package typealias Step = @Sendable () -> Void

    private let steps = Mutex<[Step]?>([])
    private let started = Atomic(0)
    private let finished = Atomic(0)

    package init() {
        for runner in [0, 1] {
            Thread.detachNewThread { [self] in
                var round = 1
                while let step = step(of: runner, in: round) {
                    step()
                    finished.add(1, ordering: .releasing)
                    round += 1
                }
            }
        }
    }

    /// - Returns: whether both steps came to an end within ten seconds.
    package func run(_ first: @escaping Step, _ second: @escaping Step) async -> Bool {
        steps.withLock { $0 = [first, second] }
        let round = started.add(1, ordering: .acquiringAndReleasing).newValue
        let patience = ContinuousClock.now + .seconds(10)
        while finished.load(ordering: .acquiring) < 2 * round {
            guard ContinuousClock.now < patience else { return false }
            await Task.yield()
        }
        return true
    }

    /// Ends the threads.
    package func end() {
        steps.withLock { $0 = nil }
        started.store(.max, ordering: .releasing)
    }

    /// Polls, as a thread that had to be woken would come too late.
    private func step(of runner: Int, in round: Int) -> Step? {
        while started.load(ordering: .acquiring) < round { sched_yield() }
        return steps.withLock { $0?[runner] }
    }
}
