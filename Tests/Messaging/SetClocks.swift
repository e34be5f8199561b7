import Foundation
import Groundwork
import Synchronization

@testable import Messaging

/// The two clocks of a board from its start on, as a test sets them.
final class SetClocks: Sendable {
    private let now: Mutex<(date: Date, steady: TimeInterval)>

    /// - Parameter isSettled: whether the time was confirmed long ago.
    init(_ date: Date, isSettled: Bool = false) {
        now = Mutex((date, 0))
        guard isSettled else { return }
        clock.confirm()
        pass(WatchedClock.settling)
    }

    /// The clock of the agent, of which there is one.
    private let made = Mutex<WatchedClock?>(nil)
    var clock: WatchedClock {
        made.withLock { made in
            let clock =
                made
                ?? WatchedClock(
                    system: { [self] in now.withLock { $0.date } }, steady: { [self] in now.withLock { $0.steady } })
            made = clock
            return clock
        }
    }

    /// Time passes, for both.
    func pass(_ seconds: TimeInterval) {
        now.withLock { ($0.date, $0.steady) = ($0.date + seconds, $0.steady + seconds) }
    }

    /// Somebody sets the system's clock.
    func step(to date: Date) { now.withLock { $0.date = date } }

    var date: Date { now.withLock { $0.date } }
}
