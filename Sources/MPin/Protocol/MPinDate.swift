/// A day on which a time permit is good.
public struct MPinDate: Sendable, Hashable {
    /// Whole days since 1970-01-01 UTC, at least 1: 0 would mean that no permit is used (MPIN 2.3).
    public let days: Int32

    /// - Returns: `nil` for a number below 1 or above 2³¹ − 1.
    public init?(days: Int64) {
        guard days >= 1, let days = Int32(exactly: days) else { return nil }
        self.days = days
    }

    /// The day of a moment.
    /// - Parameter secondsSince1970: Unix time.
    /// - Returns: `nil` before the second day of 1970.
    public init?(secondsSince1970 seconds: Int64) { self.init(days: seconds / 86_400) }
}
