public import FoundationEssentials
import Synchronization

/// The system's clock, watched for steps: how far what it says can be relied on, such as the ages of messages.
///
/// A board without a battery starts with the time of its last shutdown, and is set right when there is a network; any
/// clock may be stepped. Within a process the steady clock says how long a message has waited, whatever the other one
/// shows. Across starts only the system's clock can say it, and only while it is confirmed: a server proved itself by a
/// certificate that was valid then, and the clock was not stepped since.
public final class WatchedClock: Sendable {
    /// Both clocks at one moment.
    package struct Reading: Sendable {
        package let date: Date
        /// Seconds of the steady clock, which also counts while the board sleeps.
        package let steady: TimeInterval
        /// What the system's clock is ahead of the steady one; another value after each step.
        package let offset: TimeInterval
        /// Whether the system's clock was confirmed since its last step.
        package let isConfirmed: Bool
        /// Whether that was so long ago that it is not about to be set: certificates are valid for months, and a broker
        /// may be reached before a time server is.
        package let isSettled: Bool
    }

    private struct State: Sendable {
        var offset: TimeInterval?
        var confirmed: TimeInterval?
        var steps = 0
    }

    /// What both clocks may differ by without being a step, in seconds.
    package static let tolerance: TimeInterval = 60
    /// In seconds.
    package static let settling: TimeInterval = 15 * 60

    private let state = Mutex(State())
    private let system: @Sendable () -> Date
    private let steady: @Sendable () -> TimeInterval

    /// A clock that is not confirmed.
    public convenience init(system: @escaping @Sendable () -> Date = { Date() }) {
        let start = ContinuousClock.now
        self.init(system: system) { (ContinuousClock.now - start) / .seconds(1) }
    }

    package init(system: @escaping @Sendable () -> Date, steady: @escaping @Sendable () -> TimeInterval) {
        (self.system, self.steady) = (system, steady)
    }

    /// Notes that a server's certificate was valid by the system's clock just now.
    public func confirm() {
        state.withLock { state in
            let reading = read(&state)
            state.confirmed = state.confirmed ?? reading.steady
        }
    }

    /// How often the system's clock was seen to have been stepped; from the first time that this is asked, or a message
    /// comes.
    public var steps: Int {
        state.withLock { state in
            _ = read(&state)
            return state.steps
        }
    }

    package func read() -> Reading { state.withLock { read(&$0) } }

    private func read(_ state: inout State) -> Reading {
        let (date, steady) = (system(), steady())
        let offset = date.timeIntervalSince1970 - steady
        if let known = state.offset {
            if abs(known - offset) > Self.tolerance { state = State(offset: offset, steps: state.steps + 1) }
        } else {
            state.offset = offset
        }
        return Reading(
            date: date, steady: steady, offset: state.offset ?? offset, isConfirmed: state.confirmed != nil,
            isSettled: state.confirmed.map { steady - $0 >= Self.settling } ?? false)
    }
}
