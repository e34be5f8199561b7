import AgentCore
import AgentMessages
import Board
import FoundationEssentials
import Groundwork

/// Fails while readings are held back because the month's bytes are used; warns when four fifths of them are.
struct TelemetryBudgetCheck: HealthCheck {
    static let name = "data-budget"

    func run(_ agent: AgentState) -> Verdict {
        guard let report = agent.board.traffic else { return .skip("nothing has been counted yet") }
        guard report.limit > 0 else {
            return .pass("\(report.traffic.used.total) bytes this month; telemetry.monthly_bytes sets no limit")
        }
        let remedy = "raise telemetry.monthly_bytes, or find what sends so much: it counts all programs of this board"
        if let resumes = report.resumes {
            return .fail(
                "this month's \(report.limit) bytes are used: readings are held back until "
                    + "\(resumes.formatted(.iso8601)), \(report.heldBack) messages so far", remedy: remedy)
        }
        let used = "\(report.traffic.used.total) of this month's \(report.limit) bytes are used"
        return TelemetryBudget.isLow(report.traffic, report.limit) ? .warn(used, remedy: remedy) : .pass(used)
    }
}
