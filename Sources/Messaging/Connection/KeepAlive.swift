/// When the library is to be asked whether a ping is due (MQTT 3.1.1 section 3.1.2.10).
///
/// The library pings when it has written nothing for the keep-alive time, counted in whole seconds, and does not tell when
/// it wrote last: an acknowledgement may go out with anything read. So the time of the last write that is certain counts
/// first, and when it has passed, that of the last read. An idle connection is asked once in each keep-alive time.
///
/// The library also pings, and gives the connection up when that is not answered, when it has read nothing for that time:
/// a peer that has gone without a word is noticed although what is sent to it is taken by this side's buffers.
struct KeepAlive {
    /// Beyond the library's own time, as its clock is another; brokers wait for one and a half times as long.
    private static let margin = Duration.seconds(1)

    private let period: Duration
    private var lastWrite: ContinuousClock.Instant
    private var lastRead: ContinuousClock.Instant
    /// Since when the peer could have been heard: the last read, or the last time that the library asked for an answer.
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

    /// The library was asked when it was due.
    mutating func hasPassed(at now: ContinuousClock.Instant) {
        // Whatever was written with the last read is as old as the keep-alive time: a ping is out for certain.
        let isCertain = now >= lastRead + period - Self.margin / 2
        lastWrite = isCertain ? now : max(lastRead, lastWrite)
        if isCertain { silentSince = now }
    }
}
