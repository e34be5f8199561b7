/// Delays between attempts: each is twice the last, up to a maximum, and randomly shortened so that a fleet that lost
/// the same gateway does not return all at once.
public struct Backoff: Sendable {
    public let initial: Duration
    public let cap: Duration
    /// The minimum share of the nominal delay after shortening, 0 to 1.
    public let leastShare: Double
    private var nominal: Duration

    public init(initial: Duration = .seconds(1), cap: Duration = .seconds(300), leastShare: Double = 0.5) {
        self.initial = initial
        self.cap = cap
        self.leastShare = leastShare
        nominal = initial
    }

    /// The delay before the next attempt.
    public mutating func next(using generator: inout some RandomNumberGenerator) -> Duration {
        let delay = nominal * Double.random(in: leastShare...1, using: &generator)
        nominal = min(nominal * 2, cap)
        return delay
    }

    public mutating func next() -> Duration {
        var generator = SystemRandomNumberGenerator()
        return next(using: &generator)
    }

    /// Call it after a success: the next delay is the initial one again.
    public mutating func reset() { nominal = initial }
}
