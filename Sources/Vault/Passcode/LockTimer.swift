/// When an open passcode locks by itself: some seconds after the last client has gone that keeps it open (SMP A4).
///
/// Times are by a clock that is never set and counts while the board sleeps.
public struct LockTimer: Sendable, Equatable {
    /// Seconds without a client until it locks; 0: when the last client goes, and else not by time.
    private var timeout = 0
    /// How many clients keep it open.
    public private(set) var clients = 0
    /// Since when there are no clients; `nil` while it is locked.
    private var since: Duration?

    public init() {}

    /// Whether it was open when it last was noted.
    public var isOpen: Bool { since != nil }

    /// When it is to be locked; `nil` for not by time.
    public var deadline: Duration? {
        guard clients == 0, timeout > 0, let since else { return nil }
        return since + .seconds(timeout)
    }

    /// - Parameter timeout: of the policy, in seconds.
    public mutating func unlocked(at now: Duration, timeout: Int) { (since, self.timeout) = (now, timeout) }
    public mutating func locked() { since = nil }

    /// Begins the time anew, such as when a program says that a person is there.
    public mutating func reset(at now: Duration) { if since != nil { since = now } }

    public mutating func clientCame() { clients += 1 }

    /// - Returns: whether it is to be locked at once.
    public mutating func clientWent(at now: Duration) -> Bool {
        clients -= 1
        guard clients == 0, since != nil else { return false }
        since = now
        return timeout == 0
    }
}
