import FoundationEssentials

/// How often a passcode was tried since it last was right. Counted on disk before each attempt, so that ending the
/// agent, or the power, gives no attempt back.
struct CountedTries: Equatable, Sendable {
    var failures = 0
    var last: Date?

    /// How long to wait before the next attempt, in seconds.
    ///
    /// - Parameter waited: for how many seconds people have waited at least, whatever the dates say.
    func wait(at now: Date, waited: Double) -> Double {
        UnlockPolicy().wait(failures: failures, last: last, at: now, waited: waited)
    }

    mutating func count(at now: Date) {
        failures += 1
        last = now
    }

    /// Whether no attempt is left. An attempt that was counted and cut off is not given back.
    func isUsedUp(_ policy: PasscodePolicy) -> Bool { left(policy) == 0 }

    /// `nil` without a limit.
    func left(_ policy: PasscodePolicy) -> Int? {
        let limit = policy.applied.retryLimit
        return limit > 0 ? max(limit - failures, 0) : nil
    }
}
