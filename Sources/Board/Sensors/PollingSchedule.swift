/// When each sensor is read next.
///
/// Sensors keep to a grid that all of them share: those of one period are due together, so that one wake-up reads
/// them and one message carries them. A failing sensor is retried after twice the last delay, up to a cap, and
/// returns to the grid when it responds.
struct PollingSchedule {
    private struct Entry {
        let period: Duration
        /// On the grid.
        var next: Duration
        /// While it fails.
        var retry: (delay: Duration, at: Duration)?
        var due: Duration { retry?.at ?? next }
    }

    private var entries: [Entry]
    private let retryCap: Duration

    init(periods: [Duration], startingAt start: Duration, retryCap: Duration) {
        entries = periods.map { Entry(period: $0, next: start) }
        self.retryCap = retryCap
    }

    /// When the next sensor is due; `nil` without sensors.
    var nextDue: Duration? { entries.map(\.due).min() }

    /// Indices of the sensors that are due, each with the time at which it was due, which is not later than `now`.
    func due(at now: Duration) -> [(index: Int, at: Duration)] {
        entries.indices.compactMap { entries[$0].due <= now ? ($0, entries[$0].due) : nil }
    }

    mutating func recordSuccess(_ index: Int, at now: Duration) {
        entries[index].retry = nil
        advance(index, beyond: now)
    }

    mutating func recordFailure(_ index: Int, at now: Duration) {
        let period = entries[index].period
        let delay = entries[index].retry.map { min($0.delay * 2, max(retryCap, period)) } ?? period
        entries[index].retry = (delay, now + delay)
        advance(index, beyond: now)
    }

    /// Moves to the next point of the grid; missed points, as after a suspension, are skipped.
    private mutating func advance(_ index: Int, beyond now: Duration) {
        let entry = entries[index]
        guard entry.next <= now else { return }
        let missed = Int((now - entry.next) / entry.period)
        entries[index].next += entry.period * (missed + 1)
        // Guards against rounding in the division.
        if entries[index].next <= now { entries[index].next += entry.period }
    }
}
