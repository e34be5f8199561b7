import FoundationEssentials

/// When a message was accepted, by the system's clock.
///
/// On the disk a time that is not certain is below zero.
struct MessageStamp: Sendable, Equatable {
    let time: Date
    /// Whether the message's age follows from it, also after a restart.
    let isCertain: Bool

    init(_ time: Date, isCertain: Bool) {
        self.time = time
        self.isCertain = isCertain && time >= OutboxPolicy.plausibleSince
    }

    /// - Parameter seconds: as they are stored.
    init(stored seconds: TimeInterval) {
        self.init(Date(timeIntervalSince1970: abs(seconds)), isCertain: seconds > 0)
    }

    init(storedMilliseconds: Int64) { self.init(stored: Double(storedMilliseconds) / 1000) }

    var stored: TimeInterval { isCertain ? time.timeIntervalSince1970 : -abs(time.timeIntervalSince1970) }
    var storedMilliseconds: Int64 { Int64((stored * 1000).rounded()) }
}
