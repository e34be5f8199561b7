import Groundwork
import Synchronization

/// Since when people wait to try a secret again, by a clock that is never set: a power cut may set the date back, and
/// without a network it may stand still.
public final class UnlockWait: Sendable {
    /// The last attempt; before the first one here the start, as those that are known by then were made before it.
    private let since: Mutex<Duration>

    /// - Parameter uptime: that of the start.
    public init(since uptime: Duration) { since = Mutex(uptime) }

    public func begin(at uptime: Duration) { since.withLock { $0 = uptime } }

    /// In seconds.
    public func length(at uptime: Duration) -> Double { since.withLock { uptime - $0 } / .seconds(1) }
}
