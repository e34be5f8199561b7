/// Decides whether a reading is worth a message: it is if the value left the deadband and the least interval has
/// passed, and always after the greatest interval.
struct SendingPolicy {
    let deadband: Double
    let leastInterval: Duration
    let greatestInterval: Duration
    private var last: (value: Double?, quality: Quality, at: Duration)?

    init(_ definition: SensorDefinition) {
        deadband = definition.deadband
        leastInterval = definition.leastInterval
        greatestInterval = definition.greatestInterval
    }

    /// - Parameters:
    ///   - value: `nil` when the sensor failed.
    ///   - time: when it was due to be read, not when it was read: a late timer would make the next interval too short.
    /// - Returns: whether to send it; it then counts as sent.
    mutating func shouldSend(_ value: Double?, _ quality: Quality, at time: Duration) -> Bool {
        guard isDue(value, quality, at: time) else { return false }
        last = (value, quality, time)
        return true
    }

    private func isDue(_ value: Double?, _ quality: Quality, at time: Duration) -> Bool {
        guard let last else { return true }
        let elapsed = time - last.at
        if elapsed < leastInterval { return false }
        if elapsed >= greatestInterval || quality != last.quality { return true }
        guard let value, let before = last.value else { return false }
        let change = abs(value - before)
        return deadband > 0 ? change >= deadband : change > 0
    }
}
