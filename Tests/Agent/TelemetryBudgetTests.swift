import Foundation
import Groundwork
import Synchronization
import Testing

@testable import AgentCore
@testable import AgentMessages
@testable import Board

@Suite("A month's budget of bytes")
struct TelemetryBudgetTests {
    private final class Month: Sendable {
        let traffic: Mutex<MonthlyTraffic?>
        let events = Mutex<[TelemetryEvent]>([])

        init() { traffic = Mutex(nil) }

        func use(_ bytes: Int64, in month: String) throws {
            let month = try #require(CalendarMonth(month))
            traffic.withLock {
                $0 = MonthlyTraffic(month: month, used: Traffic(sent: bytes / 2, received: bytes - bytes / 2))
            }
        }

        func budget(_ limit: Int64) -> TelemetryBudget {
            TelemetryBudget(limit: limit, measure: { self.traffic.withLock { $0 } }) { event in
                self.events.withLock { $0.append(event) }
            }
        }

        var names: [String] {
            events.withLock { events in
                defer { events = [] }
                return events.map(\.report.name)
            }
        }
    }

    private let month = Month()

    @Test("readings are held back beyond the month's bytes, counted, and go on with the next month")
    func course() throws {
        let budget = month.budget(1000)
        #expect(budget.allows(), "nothing was counted yet")
        try month.use(799, in: "2026-11")
        #expect(budget.allows() && month.names == [])
        try month.use(800, in: "2026-11")
        for _ in 0..<3 { #expect(budget.allows()) }
        #expect(month.names == ["telemetry.budget-low"])
        try month.use(1000, in: "2026-11")
        #expect(budget.allows())
        try month.use(1001, in: "2026-11")
        for _ in 0..<3 { #expect(!budget.allows()) }
        #expect(month.names == ["telemetry.held-back"])
        #expect(budget.heldBack == 3)
        try month.use(5, in: "2026-12")
        #expect(budget.allows() && budget.allows())
        #expect(month.names == ["telemetry.resumed"])
        try month.use(900, in: "2026-12")
        #expect(budget.allows())
        #expect(month.names == ["telemetry.budget-low"])
    }

    @Test("a month whose bytes are used at once is not reported as low, and the next one ends the trouble too")
    func atOnce() throws {
        let budget = month.budget(1000)
        try month.use(5000, in: "2026-11")
        #expect(!budget.allows())
        try month.use(5000, in: "2026-12")
        #expect(!budget.allows())
        #expect(month.names == ["telemetry.held-back", "telemetry.held-back"])
        let traffic = MonthlyTraffic(month: try #require(CalendarMonth("2026-11")), used: Traffic(sent: 1001))
        let (held, resumed) = (
            TelemetryEvent.heldBack(traffic, limit: 1000), TelemetryEvent.resumed(traffic, limit: 1000)
        )
        #expect(held.report.raises.map { resumed.report.ends.contains($0) } == true)
        #expect(held.report.message?.contains("until 2026-12-01T00:00:00Z") == true)
    }

    @Test("without a limit nothing is measured or held back")
    func unlimited() throws {
        let budget = TelemetryBudget(
            limit: 0,
            measure: {
                Issue.record("measured")
                return nil
            }, report: { _ in })
        #expect(budget.allows())
    }

    @Test("the count goes on after a restart and a boot, and begins anew with a month or after damage")
    func meter() throws {
        try withFolder { folder in
            let now = Mutex(Date(timeIntervalSince1970: 1_795_000_000))
            func time() -> BestKnownTime {
                BestKnownTime(path: folder + "/clock", built: .distantPast, systemTime: { now.withLock { $0 } })
            }
            func kernel(_ sent: Int64, boot: String = "a") throws {
                for (path, text) in [
                    ("/proc/net/dev", "h\nh\n eth0: 0 0 0 0 0 0 0 0 \(sent) 0 0 0 0 0 0 0\n"),
                    ("/proc/sys/kernel/random/boot_id", boot + "\n"),
                ] {
                    let url = URL(filePath: folder + path)
                    try FileManager.default.createDirectory(
                        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
                    try Data(text.utf8).write(to: url)
                }
            }
            let file = folder + "/traffic.json"
            func meter() -> TrafficMeter {
                TrafficMeter(path: file, machine: Machine(root: folder), time: time())
            }

            try kernel(100)
            var counting = meter()
            #expect(counting.measure() == nil, "no interface leads out")
            counting.save()
            #expect(!FileManager.default.fileExists(atPath: file))
            counting.lead(by: ["eth0"])
            try kernel(150)
            #expect(counting.measure()?.used == Traffic(sent: 50))
            #expect(!FileManager.default.fileExists(atPath: file), "only what saves writes")
            counting.save()

            try kernel(170)
            counting = meter()
            counting.lead(by: ["eth0"])
            #expect(counting.measure()?.used == Traffic(sent: 70))
            counting.save()
            try kernel(30, boot: "b")
            counting = meter()
            counting.lead(by: ["eth0"])
            #expect(counting.measure()?.used == Traffic(sent: 100))

            // 1970 again: the month goes on.
            let right = now.withLock { $0 }
            time().confirm(by: .new)
            counting.save()
            now.withLock { $0 = Date(timeIntervalSince1970: 0) }
            counting = meter()
            counting.lead(by: ["eth0"])
            try kernel(31, boot: "b")
            #expect(counting.measure() == MonthlyTraffic(month: CalendarMonth(of: right), used: Traffic(sent: 101)))

            now.withLock { $0 = right + 30 * 86_400 }
            try kernel(36, boot: "b")
            #expect(counting.measure()?.used == Traffic(sent: 5))
            counting.save()

            try "{".write(toFile: file, atomically: true, encoding: .utf8)
            counting = meter()
            counting.lead(by: ["eth0"])
            #expect(counting.measure()?.used == Traffic())
            #expect(StateDirectory.setAside(in: folder).count == 1)
            counting.save()
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".new") } == [])
        }
    }
}
