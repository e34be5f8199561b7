extension Duration {
    /// The duration in seconds.
    public var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }

    /// Whole milliseconds, rounded toward zero; out-of-range values become the largest or smallest number.
    public var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (milliseconds, isBeyond) = seconds.multipliedReportingOverflow(by: 1000)
        let (sum, sumIsBeyond) = milliseconds.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
        guard !isBeyond, !sumIsBeyond else { return seconds < 0 ? .min : .max }
        return sum
    }
}
