public import FoundationEssentials

/// How often a secret may be tried, and how soon.
public struct UnlockPolicy: Sendable, Equatable {
    /// The longest wait between attempts, in seconds.
    public static let longestWait = 900.0

    /// After this many wrong secrets no more are tried; at least 1.
    public var attempts: Int
    /// The wait after the first wrong secret, in seconds. Each further one doubles it, up to ``longestWait``.
    public var delay: Double

    public init(attempts: Int = 10, delay: Double = 1) { (self.attempts, self.delay) = (attempts, delay) }

    /// How long to wait before the next attempt, in seconds.
    ///
    /// - Parameter waited: for how many seconds people have waited at least. Dates alone would keep them out for as long
    ///   as the clock is behind the last attempt, or stands still.
    public func wait(failures: Int, last: Date?, at now: Date, waited: Double) -> Double {
        guard failures > 0, let last else { return 0 }
        let whole = min(delay * Double(1 << min(failures - 1, 16)), Self.longestWait)
        return max(whole - max(now.timeIntervalSince(last), waited), 0)
    }
}
