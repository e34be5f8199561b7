import FoundationEssentials
public import Prompts

/// The clock of this module. Instants are durations since the start of the machine (`CLOCK_MONOTONIC`), the scale of
/// the timestamps of button presses too; the date is for records that people read.
public protocol ProximityClock: PromptClock {
    // Declared again, so that users of this clock need not import the module of the prompts.
    var now: Duration { get }
    var date: Date { get }
    /// - Throws: `CancellationError`
    func sleep(until deadline: Duration) async throws
}

/// The kernel's clocks.
public struct SystemClock: ProximityClock {
    private let clock = MachineClock()

    public init() {}

    public var now: Duration { clock.now }
    public var date: Date { Date() }

    public func sleep(until deadline: Duration) async throws { try await clock.sleep(until: deadline) }
}
