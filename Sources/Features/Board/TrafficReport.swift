import AgentCore
import AgentMessages
import Board
import Connectivity
import FoundationEssentials
import Groundwork

/// What went over the network this month, and what becomes of readings.
struct TrafficReport: Answered, Equatable {
    let traffic: MonthlyTraffic
    let interfaces: [String]
    /// In bytes; 0: none.
    let limit: Int64
    /// Messages with readings, since the start.
    let heldBack: Int

    /// When readings go on; `nil` if they are not held back.
    var resumes: Date? { traffic.used.total > limit && limit > 0 ? traffic.month.end : nil }

    package static let answer: Answer<TrafficReport> = [
        "month": .of("month of the calendar in UTC, such as 2026-11") { $0.traffic.month.text },
        "interfaces": .of("the ones that are counted") { $0.interfaces },
        "sent": .of("bytes sent this month") { $0.traffic.used.sent },
        "received": .of("bytes received this month") { $0.traffic.used.received },
        "used": .of("bytes sent and received this month") { $0.traffic.used.total },
        "limit": .of("telemetry.monthly_bytes; 0 for no limit") { $0.limit },
        "heldBack": .of("telemetry messages since the start that were held back") { $0.heldBack },
        "resumes": .of("when readings are published again; only while they are held back") { $0.resumes },
    ]
}

extension BoardFeature {
    /// `nil` before the first network, and while the clock has never been right.
    var trafficReport: TrafficReport? {
        host.board.traffic.measure().map { traffic in
            TrafficReport(
                traffic: traffic, interfaces: host.board.traffic.interfaces, limit: broker.budget.limit,
                heldBack: broker.budget.heldBack)
        }
    }

    /// Counts what goes over the interfaces that lead out, and keeps the count, until canceled.
    func countTraffic(_ changes: AsyncStream<NetworkMonitor.State>) async throws {
        let traffic = host.board.traffic
        let named = host.settings.telemetry.interfaces
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                guard named.isEmpty else { return traffic.lead(by: named) }
                self.lead(by: host.network.monitor.state)
                for await state in changes { self.lead(by: state) }
            }
            group.addTask {
                while true {
                    try await Task.sleep(for: TrafficMeter.interval)
                    traffic.save()
                }
            }
            try await group.waitForAll()
        }
    }

    /// Without a way out, what still goes over the last one counts.
    private func lead(by state: NetworkMonitor.State) {
        guard case .way(let way) = state, host.board.traffic.interfaces != [way.interface] else { return }
        host.board.traffic.lead(by: [way.interface])
    }
}
