import Groundwork
import TestSupport
import Testing

/// One board lets another one in, over each transport, in one boot: what every change is tested with. The other suites of
/// virtual boards are run by `deploy/test --boards`.
@Suite("Proximity login in one boot", .needsBoard, .timeLimit(.minutes(10)))
struct LoginTests {
    private static let run = VirtualBoard.Run {
        try await VirtualBoard.log(of: "login", definition: "virtual-board", controllers: 2) { definition in
            // Longer than the pauses of an emulated processor between bounces, shorter than a press.
            VirtualBoard.debouncing(VirtualBoard.withoutSensors(definition), milliseconds: 60)
        }
    }

    @Test("a press lets the other board in, and both tell each step (MAG 8.6)", arguments: Transport.allCases)
    func letIn(_ transport: Transport) async throws {
        let lines = try await Self.run.value.during(transport.rawValue)
        for (name, status) in [("share", 0), ("login", 0), ("whoami", 0), ("logout", 0)] as [(String, Int64)] {
            #expect(observed(name, in: lines) == [status], "\(name)")
        }
        #expect(lines.last { $0["loggedInAt"] != nil }?["userName"]?.string == "alice")
        #expect(states(of: "b", since: 0, in: lines).starts(with: [0, 2, 1, 3, 5, 6, 7, 8]))
        #expect(states(of: "a", since: 10, in: lines).starts(with: [10, 14, 15, 11]))
        let lab = try #require(lines.last { $0["event"]?.string == "lab" }?["state"])
        let texts = (lab["events"]?.array ?? []).compactMap { $0["text"]?.string }
        #expect(texts.count { $0 == "alice authorized a login from board a" } == (transport == .kernel ? 1 : 2))
    }

    @Test("both are on record")
    func audit() async throws {
        let records = try await Self.run.value.during("bluez").compactMap { $0["records"]?.array }.last ?? []
        #expect(records.map { $0["decision"]?.string } == ["granted", "granted"])
        #expect(records.map { $0["outcome"]?.string } == ["authorized", "authorized"])
    }
}
