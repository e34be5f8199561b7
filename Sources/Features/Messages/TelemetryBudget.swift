import AgentCore
import Board
import Groundwork
import Synchronization

/// Holds readings back in a month whose bytes are used. What programs publish themselves is not affected.
package final class TelemetryBudget: Sendable {
    private struct State {
        /// The months in which it was reported.
        var low: CalendarMonth?
        var used: CalendarMonth?
        var heldBack = 0
    }

    /// In bytes a month; 0: no limit.
    package let limit: Int64
    private let measure: @Sendable () -> MonthlyTraffic?
    private let report: @Sendable (TelemetryEvent) -> Void
    private let state = Mutex(State())

    init(
        limit: Int64, measure: @escaping @Sendable () -> MonthlyTraffic?,
        report: @escaping @Sendable (TelemetryEvent) -> Void
    ) {
        (self.limit, self.measure, self.report) = (limit, measure, report)
    }

    convenience init(of host: Host) {
        let traffic = host.board.traffic
        self.init(
            limit: Int64(host.settings.telemetry.monthlyBytes), measure: { traffic.measure() },
            report: { [weak host] in host?.report($0) })
    }

    /// Messages with readings that were held back since the start.
    package var heldBack: Int { state.withLock { $0.heldBack } }

    /// Whether readings may be published now; those that may not are counted.
    func allows() -> Bool {
        guard limit > 0, let traffic = measure() else { return true }
        let isUsed = Self.isUsed(traffic, limit)
        let event: TelemetryEvent? = state.withLock { state in
            if isUsed {
                state.heldBack += 1
                guard state.used != traffic.month else { return nil }
                // What has happened needs no warning.
                (state.low, state.used) = (traffic.month, traffic.month)
                return .heldBack(traffic, limit: limit)
            }
            if state.used != nil {
                state.used = nil
                return .resumed(traffic, limit: limit)
            }
            guard Self.isLow(traffic, limit), state.low != traffic.month else { return nil }
            state.low = traffic.month
            return .budgetLow(traffic, limit: limit)
        }
        if let event { report(event) }
        return !isUsed
    }

    /// Whether all of it is used.
    package static func isUsed(_ traffic: MonthlyTraffic, _ limit: Int64) -> Bool {
        limit > 0 && traffic.used.total > limit
    }

    /// Whether four fifths of it are used.
    package static func isLow(_ traffic: MonthlyTraffic, _ limit: Int64) -> Bool {
        limit > 0 && traffic.used.total >= limit / 5 * 4
    }
}
