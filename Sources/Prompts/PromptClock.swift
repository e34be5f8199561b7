import Groundwork

/// The clock for the deadlines of prompts. Instants are durations since the start of the machine (`CLOCK_MONOTONIC`),
/// so that setting the system clock does not end a question.
public protocol PromptClock: Sendable {
    var now: Duration { get }
    /// - Throws: `CancellationError`
    func sleep(until deadline: Duration) async throws
}

/// The kernel's clock.
public struct MachineClock: PromptClock {
    public init() {}

    public var now: Duration { .machineUptime }

    public func sleep(until deadline: Duration) async throws {
        try await Task.sleep(for: max(deadline - now, Duration.zero), clock: .suspending)
    }
}
