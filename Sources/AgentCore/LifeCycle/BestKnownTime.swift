import FoundationEssentials
import Glibc
import Groundwork
import Synchronization

/// The time used to check certificates and tokens on a board that may wake up in 1970.
///
/// The clock is plausible when it is not earlier than what is known to have happened: this program was built, the
/// gateway issued the certificate we hold, and the clock was last confirmed by a connection whose certificates were
/// valid then. Until it is, the newest of these is used as the time.
package final class BestKnownTime: Sendable {
    private struct Known: Sendable {
        var floor: Date
        var confirmed: Date?
        /// How often the clock had been stepped by the last confirmation, or when kept connections were last closed.
        var steps: Int
        /// The uptime when they were.
        var closing: Duration?
    }

    /// What a server proved itself over.
    package enum Connection: Sendable {
        /// Made just now: its certificates were judged by the present clock.
        case new
        /// Possibly made long ago: its certificates were judged by the clock as it was.
        case kept
    }

    /// How much newer than the stored time a confirmation must be to be worth a write to the disk.
    private static let storeInterval: TimeInterval = 3600
    /// How long requests that were under way when their connections were closed may bring tokens.
    package static let settling = Duration.seconds(300)

    private static let start = ContinuousClock.now
    /// Since the process asked for it first.
    package static let systemUptime: @Sendable () -> Duration = { start.duration(to: .now) }

    private let known: Mutex<Known>
    package let path: String
    private let systemTime: @Sendable () -> Date
    private let uptime: @Sendable () -> Duration
    /// Confirmed whenever this is, for what is judged by its age.
    package let watchedClock: WatchedClock

    /// - Parameters:
    ///   - path: the file whose modification time is the last confirmed time; created with the first one.
    ///   - built: when this program was built.
    package init(
        path: String, built: Date? = BestKnownTime.modified("/proc/self/exe"),
        systemTime: @escaping @Sendable () -> Date = { Date() },
        uptime: @escaping @Sendable () -> Duration = BestKnownTime.systemUptime
    ) {
        self.path = path
        (self.systemTime, self.uptime) = (systemTime, uptime)
        watchedClock = WatchedClock(system: systemTime)
        let confirmed = Self.modified(path, followsLink: false)
        known = Mutex(
            Known(
                floor: max(built ?? .distantPast, confirmed ?? .distantPast), confirmed: confirmed,
                steps: watchedClock.steps))
    }

    /// The best known current time.
    package var now: Date { max(systemTime(), known.withLock(\.floor)) }

    /// Whether the system's clock can be right.
    package var isPlausible: Bool { systemTime() >= known.withLock(\.floor) }

    /// Records a date that is certainly past, such as the start of the validity of a certificate issued to us.
    package func notBefore(_ date: Date) { known.withLock { $0.floor = max($0.floor, date) } }

    /// Confirms the system's clock, by which a server's certificate was valid. Stored across restarts, at most once an
    /// hour.
    ///
    /// A clock that was stepped since its last confirmation is confirmed by a new connection alone.
    ///
    /// - Parameter end: the end of the board's own certificate; no time from then on is believed.
    /// - Returns: `false` if kept connections have to be closed, as the clock may have been stepped since they were
    ///   made. What comes from ``settling`` on is taken to be over a new one.
    @discardableResult
    package func confirm(by connection: Connection, before end: Date = .distantFuture) -> Bool {
        let (now, uptime) = (systemTime(), self.uptime())
        // After the time: a step in between is one too many, and not one too few.
        let steps = watchedClock.steps
        let (isNew, isConfirmed, isDue) = known.withLock { known in
            if connection == .kept, steps != known.steps {
                (known.steps, known.closing) = (steps, uptime)
                return (false, false, false)
            }
            if connection == .kept, let closing = known.closing, uptime - closing < Self.settling {
                return (true, false, false)
            }
            guard now >= known.floor, now < end else { return (true, false, false) }
            known.floor = now
            known.steps = steps
            let isDue = known.confirmed.map { now.timeIntervalSince($0) >= Self.storeInterval } ?? true
            if isDue { known.confirmed = now }
            return (true, true, isDue)
        }
        if isConfirmed { watchedClock.confirm() }
        if isDue { store(now) }
        return isNew
    }

    private func store(_ now: Date) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let seconds = now.timeIntervalSince1970.rounded(.down)
        let stamp = timespec(tv_sec: Int(seconds), tv_nsec: 0)
        futimens(descriptor, [stamp, stamp])
    }

    /// When the file was last changed, if it exists.
    package static func modified(_ path: String) -> Date? { modified(path, followsLink: true) }

    private static func modified(_ path: String, followsLink: Bool) -> Date? {
        var status = stat()
        guard fstatat(AT_FDCWD, path, &status, followsLink ? 0 : AT_SYMLINK_NOFOLLOW) == 0,
            followsLink || status.st_mode & S_IFMT == S_IFREG
        else { return nil }
        return Date(timeIntervalSince1970: TimeInterval(status.st_mtim.tv_sec))
    }
}
