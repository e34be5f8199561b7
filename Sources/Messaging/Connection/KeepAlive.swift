/// Decides when to let the library check whether a ping is due (MQTT 3.1.1 section 3.1.2.10).
///
/// The library pings when it has written nothing for the keep-alive time, counted in whole seconds, and does not
/// report its last write: any read may send an acknowledgement. So the last write that is certain counts first, and
/// after it the last read. On an idle connection the library is called once per keep-alive time.
///
/// The library also pings when it has read nothing for that time, and drops the connection when the ping is not
/// answered. That notices a vanished peer even while this side's buffers still accept what is sent.
struct KeepAlive {
    /// Added because the library uses another clock; brokers wait one and a half keep-alive times.
    private static let margin = Duration.seconds(1)

    private let period: Duration
    private var lastWrite: ContinuousClock.Instant
    private var lastRead: ContinuousClock.Instant
    /// Start of the present silence: the last read, or the last ping that the library sent.
    private var silentSince: ContinuousClock.Instant

    init(seconds: Int32, now: ContinuousClock.Instant) {
        period = .seconds(Int(seconds)) + Self.margin
        lastWrite = now
        lastRead = now
        silentSince = now
    }

    var due: ContinuousClock.Instant { min(lastWrite, silentSince) + period }

    mutating func hasWritten(at now: ContinuousClock.Instant) { lastWrite = now }
    mutating func hasRead(at now: ContinuousClock.Instant) {
        lastRead = now
        silentSince = now
    }

    /// The library was called at ``due``.
    mutating func hasPassed(at now: ContinuousClock.Instant) {
        // Anything written with the last read is as old as the keep-alive time by now, so a ping has been sent.
        let isCertain = now >= lastRead + period - Self.margin / 2
        lastWrite = isCertain ? now : max(lastRead, lastWrite)
        if isCertain { silentSince = now }
    }
}
