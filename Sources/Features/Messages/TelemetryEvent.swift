import AgentCore
import Board
import FoundationEssentials
import Groundwork

/// What happens to the month's budget of bytes (`telemetry.monthly_bytes`).
package enum TelemetryEvent: ReportedEvent, Equatable {
    /// Four fifths of the budget are used.
    case budgetLow(MonthlyTraffic, limit: Int64)
    /// The budget is used: readings are held back until the month ends.
    case heldBack(MonthlyTraffic, limit: Int64)
    /// Readings are published again.
    case resumed(MonthlyTraffic, limit: Int64)

    package static let meanings = [
        "telemetry.budget-low": "80 % of the month's bytes are used (telemetry.monthly_bytes)",
        "telemetry.held-back": "the month's bytes are used, so readings are not published until the next month begins",
        "telemetry.resumed": "readings are published again, as a new month has begun",
    ]

    package static var details: [String: Schema] {
        [
            "used": .integer("bytes sent and received this month"), "limit": .integer("telemetry.monthly_bytes"),
            "resumes": .time("when the next month begins"),
        ]
    }

    package var report: EventReport {
        switch self {
        case .budgetLow(let traffic, let limit):
            EventReport(
                "telemetry.budget-low", .notable,
                "\(traffic.used.total) of this month's \(limit) bytes are used; readings are held back once all are",
                traffic.details(limit))
        case .heldBack(let traffic, let limit):
            EventReport(
                "telemetry.held-back", .trouble,
                "this month's \(limit) bytes are used: readings are held back until "
                    + traffic.month.end.formatted(.iso8601), traffic.details(limit), raises: .telemetryBudget)
        case .resumed(let traffic, let limit):
            EventReport(
                "telemetry.resumed", .notable, "readings are published again", traffic.details(limit),
                ends: [.telemetryBudget])
        }
    }
}

extension Trouble {
    /// The month's bytes are used.
    package static let telemetryBudget = Trouble("telemetry budget")
}

extension MonthlyTraffic {
    fileprivate func details(_ limit: Int64) -> [String: JSON] {
        [
            "used": .integer(used.total), "limit": .integer(limit),
            "resumes": .string(month.end.formatted(.iso8601)),
        ]
    }
}
