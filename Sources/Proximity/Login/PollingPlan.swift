/// When the gateway is asked whether another device authorized this one (MAG 7.3).
public struct PollingPlan: Sendable, Equatable {
    public var first: Duration
    public var interval: Duration
    /// The most times.
    public var limit: Int

    public init(first: Duration = .seconds(10), interval: Duration = .seconds(5), limit: Int = 6) {
        self.first = first
        self.interval = interval
        self.limit = limit
    }

    /// The instants of the attempts, counted from `start`. An interval below a second is a second: a gateway is not
    /// hammered by a slip of the pen.
    func times(from start: Duration) -> [Duration] {
        (0..<max(limit, 0)).map { start + max(first, .zero) + max(interval, .seconds(1)) * $0 }
    }

    /// When nothing more is to be expected.
    func end(from start: Duration) -> Duration { (times(from: start).last ?? start) + .seconds(1) }
}
