import Dispatch

/// A clock that nobody sets, for intervals. Its instants are durations since the start of the machine, on the scale of
/// the kernel's time stamps for GPIO edges (`CLOCK_MONOTONIC`).
public protocol SteadyClock: Sendable {
    var now: Duration { get }
    /// - Throws: `CancellationError`
    func sleep(until deadline: Duration) async throws
}

/// The kernel's monotonic clock.
public struct MonotonicClock: SteadyClock {
    public init() {}

    public var now: Duration { .nanoseconds(Int64(clamping: DispatchTime.now().uptimeNanoseconds)) }

    public func sleep(until deadline: Duration) async throws {
        try await Task.sleep(for: max(deadline - now, Duration.zero), clock: .suspending)
    }
}
