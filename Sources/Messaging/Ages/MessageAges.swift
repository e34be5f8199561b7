import FoundationEssentials
import Groundwork

/// How long the messages of a store have waited at least, by their ascending numbers.
///
/// Those that were accepted since the store was opened are judged by the steady clock: it is enough to know from which
/// number on which offset held, which is one entry for each step of the system's clock. Earlier ones have waited since
/// the opening, and longer if their stamps are certain and the clock is confirmed.
struct MessageAges: Sendable {
    private struct Epoch: Sendable {
        let first: Int64
        /// No message of it was accepted before, by the steady clock.
        let start: TimeInterval
        let offset: TimeInterval
    }

    /// A clock that is stepped all the time must not take memory.
    private static let most = 64

    private var epochs: [Epoch] = []
    /// When all messages before the first epoch had been accepted.
    private var opened: TimeInterval

    init(_ clock: WatchedClock) { opened = clock.read().steady }

    /// Called with the number of each message that is accepted, or with the first of several.
    mutating func accept(_ id: Int64, at now: WatchedClock.Reading) {
        // A change that failed gives its numbers back.
        while let last = epochs.last, last.first >= id { epochs.removeLast() }
        guard epochs.last?.offset != now.offset else { return }
        epochs.append(Epoch(first: id, start: now.steady, offset: now.offset))
        guard epochs.count > Self.most else { return }
        epochs.removeFirst()
        opened = epochs[0].start
    }

    /// - Returns: whether the message has certainly waited longer than that.
    func hasWaited(
        _ limit: Duration, _ id: Int64, _ stamp: MessageStamp, at now: WatchedClock.Reading
    ) -> Bool {
        let waited: TimeInterval
        if let epoch = epochs.last(where: { $0.first <= id }) {
            waited = now.steady - max(stamp.time.timeIntervalSince1970 - epoch.offset, epoch.start)
        } else {
            let byStamp = stamp.isCertain && now.isConfirmed ? now.date.timeIntervalSince(stamp.time) : 0
            waited = max(now.steady - opened, byStamp)
        }
        return waited > Double(limit.components.seconds)
    }
}
