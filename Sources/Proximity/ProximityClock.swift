import Dispatch
import FoundationEssentials

/// The time as this room sees it. Instants are durations since the start of the machine (`CLOCK_MONOTONIC`), the scale
/// on which button presses are stamped too; the date is for records that people read.
public protocol ProximityClock: Sendable {
    var now: Duration { get }
    var date: Date { get }
    /// - Throws: `CancellationError`
    func sleep(until deadline: Duration) async throws
}

/// The kernel's clocks.
public struct SystemClock: ProximityClock {
    public init() {}

    public var now: Duration { .nanoseconds(Int64(clamping: DispatchTime.now().uptimeNanoseconds)) }
    public var date: Date { Date() }

    public func sleep(until deadline: Duration) async throws {
        try await Task.sleep(for: max(deadline - now, Duration.zero), clock: .suspending)
    }
}
