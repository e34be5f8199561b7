import Foundation
import GatewayLab
import Groundwork
import TestSupport
import Testing

@Suite("A budget of bytes", .timeLimit(.minutes(15)))
struct TrafficTests {
    /// More than the loopback interface carries, whatever else runs on this machine.
    private static let limit = 500_000_000_000_000
    private static let settings = """
        [telemetry]
        topic = "readings"
        monthly_bytes = \(limit)
        interfaces = ["lo"]
        """

    /// What an earlier boot has counted.
    private func write(_ sent: Int, in month: String, of board: TestBoard) throws {
        let file = board.state.appending(path: "traffic.json")
        let text = #"{"boot":"earlier","interfaces":{},"month":"\#(month)","received":0,"sent":\#(sent)}"#
        try Data(text.utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    }

    private var thisMonth: String { String(Date.now.formatted(.iso8601).prefix(7)) }

    private func traffic(of board: TestBoard) async throws -> [String: Any] {
        try #require(try await board.ask("status")["traffic"] as? [String: Any])
    }

    @Test("readings are held back when the month's bytes are used, which status and doctor say, until the next month")
    func heldBack() async throws {
        try await withLabAndBoard(settings: Self.settings) { lab, board in
            try await board.stop()
            try write(Self.limit + 1, in: thisMonth, of: board)
            try await board.start()
            let arrivals = lab.arrivals.subscribe()
            _ = try await board.enroll(at: lab)
            _ = try await board.status { $0.isConnected }
            #expect(
                try await board.latchkey("board", "report", "well.level", "2.31").output.contains("not published"))
            let held = try await traffic(of: board)
            #expect(held["month"] as? String == thisMonth && held["interfaces"] as? [String] == ["lo"])
            #expect(held["resumes"] != nil && (held["heldBack"] as? Int ?? 0) > 0)
            #expect(try await board.latchkey("status").output.contains("readings are held back until"))
            #expect(try await board.latchkey("doctor").output.contains("bytes are used: readings are held back until"))
            // What programs publish goes, and is the first that arrives.
            try await board.latchkey("publish", "note", "here")
            let first = try await Acceptance.within(180, "a message at the broker") {
                for await message in arrivals
                where message.topic.contains("/custom/") && !message.topic.hasSuffix("/status") {
                    return message.topic
                }
                throw Unexpected("the broker's messages ended")
            }
            #expect(first.hasSuffix("/custom/note"))

            try await board.stop()
            let kept = try String(contentsOf: board.state.appending(path: "traffic.json"), encoding: .utf8)
            #expect(kept.contains(#""month":"\#(thisMonth)""#) && !kept.contains("earlier"))
            try write(Self.limit + 1, in: "2026-01", of: board)
            try await board.start()
            try await Acceptance.within(180, "a reading at the broker") {
                for await message in arrivals where message.topic.hasSuffix("/custom/readings") { return }
                throw Unexpected("the broker's messages ended")
            }
            let resumed = try await traffic(of: board)
            #expect(resumed["resumes"] == nil && resumed["month"] as? String == thisMonth)
        }
    }
}
