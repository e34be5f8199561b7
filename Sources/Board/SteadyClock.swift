import Groundwork

/// A clock that is never set, for intervals. Its instants are durations since the start of the machine, on the scale of
/// the kernel's time stamps for GPIO edges (`CLOCK_MONOTONIC`).
public protocol SteadyClock: Sendable {
    var now: Duration { get }
    /// Suspends the caller, which resumes on its own thread.
    ///
    /// - Throws: `CancellationError`
    func sleep(until deadline: Duration, isolation: isolated (any Actor)?) async throws
}

extension SteadyClock {
    func sleep(until deadline: Duration) async throws { try await sleep(until: deadline, isolation: nil) }
}

/// The kernel's monotonic clock.
public struct MonotonicClock: SteadyClock {
    /// The thread that wakes for the caller; best the caller's own.
    private let thread: NamedThread

    public init() { thread = .board }
    init(on thread: NamedThread) { self.thread = thread }

    public var now: Duration { .machineUptime }

    public func sleep(until deadline: Duration, isolation: isolated (any Actor)?) async throws {
        try await thread.sleep(for: deadline - now)
    }
}

extension NamedThread {
    /// The thread for the timers of the board's parts. No part is read on it, so it never blocks on one.
    static let board = NamedThread("board")

    /// The thread that polls the sensors: the outbox's, so that a message wakes one thread and not two. While its disk
    /// is busy, readings could not be taken over anyway.
    static var sampling: NamedThread { .storage }
}
