/// When to poll the gateway whether another device has authorized this one (MAG 7.3).
public struct PollingPlan: Sendable, Equatable {
    public var first: Duration
    public var interval: Duration
    /// The maximum number of polls.
    public var limit: Int

    public init(first: Duration = .seconds(10), interval: Duration = .seconds(5), limit: Int = 6) {
        self.first = first
        self.interval = interval
        self.limit = limit
    }

    /// The times of the polls, counted from `start`. The interval is at least a second, so that a wrong setting does
    /// not overload the gateway.
    func times(from start: Duration) -> [Duration] {
        (0..<max(limit, 0)).map { start + max(first, .zero) + max(interval, .seconds(1)) * $0 }
    }

    /// When no further result is expected.
    func end(from start: Duration) -> Duration { (times(from: start).last ?? start) + .seconds(1) }
}
