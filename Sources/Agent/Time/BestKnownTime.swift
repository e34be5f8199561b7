import FoundationEssentials
import Glibc
import Messaging
import Synchronization

/// The time used to check certificates and tokens on a board that may wake up in 1970.
///
/// The clock is plausible when it is not earlier than what is known to have happened: this program was built, the
/// gateway issued the certificate we hold, and the clock was last confirmed by a connection whose certificates were
/// valid then. Until it is, the newest of these is used as the time.
public final class BestKnownTime: Sendable {
    private struct Known: Sendable {
        var floor: Date
        var confirmed: Date?
    }

    /// How much newer than the stored time a confirmation must be to be worth a write to the disk.
    private static let storeInterval: TimeInterval = 3600

    private let known: Mutex<Known>
    let path: String
    private let systemTime: @Sendable () -> Date
    /// Confirmed whenever this is, for what is judged by its age.
    let messageClock: MessageClock

    /// - Parameters:
    ///   - path: the file whose modification time is the last confirmed time; created with the first one.
    ///   - built: when this program was built.
    public init(
        path: String, built: Date? = BestKnownTime.modified("/proc/self/exe"),
        systemTime: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.path = path
        self.systemTime = systemTime
        messageClock = MessageClock(system: systemTime)
        let confirmed = Self.modified(path, followsLink: false)
        known = Mutex(Known(floor: max(built ?? .distantPast, confirmed ?? .distantPast), confirmed: confirmed))
    }

    /// The best known current time.
    public var now: Date { max(systemTime(), known.withLock(\.floor)) }

    /// Whether the system's clock can be right.
    public var isPlausible: Bool { systemTime() >= known.withLock(\.floor) }

    /// Records a date that is certainly past, such as the start of the validity of a certificate issued to us.
    public func notBefore(_ date: Date) { known.withLock { $0.floor = max($0.floor, date) } }

    /// Confirms the system's clock, by which a server's certificate was valid. Stored across restarts, at most once an
    /// hour.
    public func confirm() {
        let now = systemTime()
        let isDue: Bool? = known.withLock { known in
            guard now >= known.floor else { return nil }
            known.floor = now
            let isDue = known.confirmed.map { now.timeIntervalSince($0) >= Self.storeInterval } ?? true
            if isDue { known.confirmed = now }
            return isDue
        }
        guard let isDue else { return }
        messageClock.confirm()
        guard isDue else { return }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let seconds = now.timeIntervalSince1970.rounded(.down)
        let stamp = timespec(tv_sec: Int(seconds), tv_nsec: 0)
        futimens(descriptor, [stamp, stamp])
    }

    /// When the file was last changed, if it exists.
    public static func modified(_ path: String) -> Date? { modified(path, followsLink: true) }

    private static func modified(_ path: String, followsLink: Bool) -> Date? {
        var status = stat()
        guard fstatat(AT_FDCWD, path, &status, followsLink ? 0 : AT_SYMLINK_NOFOLLOW) == 0,
            followsLink || status.st_mode & S_IFMT == S_IFREG
        else { return nil }
        return Date(timeIntervalSince1970: TimeInterval(status.st_mtim.tv_sec))
    }
}
