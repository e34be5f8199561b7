import Foundation
import Synchronization

/// The lab's clock: the system's time plus an offset set by tests.
final class LabClock: Sendable {
    private let offset = Mutex(TimeInterval.zero)

    var now: Date { Date() + offset.withLock { $0 } }

    func advance(by duration: Duration) {
        let parts = duration.components
        offset.withLock { $0 += TimeInterval(parts.seconds) + TimeInterval(parts.attoseconds) / 1e18 }
    }
}
