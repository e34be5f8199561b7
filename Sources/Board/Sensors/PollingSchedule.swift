/// When each sensor is read next.
///
/// Sensors keep to a grid that all of them share: those of one period are due together, so that one wake-up reads
/// them and one message carries them. Many parts fail a read now and then, a DHT22 every few: a sensor that fails is
/// read again soon, and counts as down if it fails then too. It is then tried again after its period and after twice
/// the last delay each time, up to a cap, and returns to the grid when it responds.
struct PollingSchedule {
    /// The pauses before a sensor that failed is read again, or its period where that is shorter. A DHT22 needs two
    /// seconds between reads.
    static let soon: [Duration] = [.seconds(2), .seconds(4)]

    /// What a failure says about a sensor.
    enum Standing {
        case readAgainSoon, down
    }

    /// The next attempt at a failing sensor.
    private enum Retry {
        /// It is not down yet.
        ///
        /// - Parameters:
        ///   - failures: how many reads in a row have failed.
        ///   - point: the one of the grid for which it is read.
        case soon(failures: Int, at: Duration, point: Duration)
        case later(delay: Duration, at: Duration)

        var at: Duration {
            switch self {
            case .soon(_, let at, _), .later(_, let at): at
            }
        }
    }

    private struct Entry {
        let period: Duration
        /// On the grid.
        var next: Duration
        var retry: Retry?
        var due: Duration { retry?.at ?? next }
        /// The time for which it is read: a reading that came at the second attempt is the one that was due before.
        var point: Duration { if case .soon(_, _, let point) = retry { point } else { due } }
    }

    private var entries: [Entry]
    private let retryCap: Duration

    init(periods: [Duration], startingAt start: Duration, retryCap: Duration) {
        entries = periods.map { Entry(period: $0, next: start) }
        self.retryCap = retryCap
    }

    /// When the next sensor is due; `nil` without sensors.
    var nextDue: Duration? { entries.map(\.due).min() }

    /// Indices of the sensors that are due, each with the time for which it is read, which is not later than `now`.
    func due(at now: Duration) -> [(index: Int, at: Duration)] {
        entries.indices.compactMap { entries[$0].due <= now ? ($0, entries[$0].point) : nil }
    }

    mutating func recordSuccess(_ index: Int, at now: Duration) {
        entries[index].retry = nil
        advance(index, beyond: now)
    }

    /// - Parameter mayPass: whether another attempt soon may succeed.
    mutating func recordFailure(_ index: Int, at now: Duration, mayPass: Bool = true) -> Standing {
        let entry = entries[index]
        advance(index, beyond: now)
        let failures: Int
        switch entry.retry {
        case nil: failures = 0
        case .soon(let count, _, _): failures = count
        case .later(let last, _):
            let delay = min(last * 2, max(retryCap, entry.period))
            entries[index].retry = .later(delay: delay, at: now + delay)
            return .down
        }
        guard mayPass, failures < Self.soon.count else {
            entries[index].retry = .later(delay: entry.period, at: now + entry.period)
            return .down
        }
        let pause = min(Self.soon[failures], entry.period)
        entries[index].retry = .soon(failures: failures + 1, at: now + pause, point: entry.point)
        return .readAgainSoon
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
