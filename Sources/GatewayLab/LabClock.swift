import Foundation
import Synchronization

/// The lab's idea of the time: the system's, moved by as much as a test asks.
final class LabClock: Sendable {
    private let offset = Mutex(TimeInterval.zero)

    var now: Date { Date() + offset.withLock { $0 } }

    func advance(by duration: Duration) {
        let parts = duration.components
        offset.withLock { $0 += TimeInterval(parts.seconds) + TimeInterval(parts.attoseconds) / 1e18 }
    }
}
