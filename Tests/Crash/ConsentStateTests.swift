import Foundation
import GatewayLab
import TestSupport
import Testing

/// The `killPoint`s between the record of a person's answer and what the answer allows.
@Suite("Killed while an answer is carried out", .timeLimit(.minutes(15)))
struct ConsentStateTests {
    static let points = ["consent-recorded", "consent-carried-out"]
    static let grant = "grant-recorded"

    @Test("a kill after consent leaves a record of who may have been let in", arguments: points)
    func consent(_ point: String) async throws {
        try await inTurn {
            try await withBoard { lab, board in
                #expect(try await board.latchkey("login", "--user", "alice", input: "alice-password\n").status == 0)
                let other = try TestBoard(settings: "[telemetry]\nenabled = false")
                do {
                    try await check(point, lab, board, lettingIn: other)
                } catch {
                    try? await other.tearDown()
                    throw error
                }
                try await other.tearDown()
            }
        }
    }

    private func check(_ point: String, _ lab: Lab, _ board: TestBoard, lettingIn other: TestBoard) async throws {
        try await other.start()
        _ = try await other.enroll("--no-register", try await lab.mintEnrollmentURL())
        let showing = try other.follow("login", "--qr")
        let code = try await showing.output.line(containing: #""event":"qr-code""#)
        let event = try #require(try JSONSerialization.jsonObject(with: Data(code.utf8)) as? [String: Any])
        let url = try #require((event["data"] as? [String: Any])?["text"] as? String)

        let daemon = try await restart(board, toDieAt: point)
        let letting = try board.follow("authorize", url, "--name", "the other board")
        let id = "\(try await board.question()["id"] ?? 0)"
        // The agent may die before it has answered this one.
        _ = try await board.latchkey("consent", "grant", id)
        try await expectDeath(of: daemon, at: point)
        #expect(try await letting.ended(within: 60) != 0)
        if point == "consent-carried-out" {
            #expect(try await showing.ended(within: 60) == 0)
            #expect(try await other.ask("whoami")["userName"] as? String == "alice")
        } else {
            try await showing.stop(SIGKILL)
            #expect(try await other.latchkey("whoami").status != 0)
        }

        try await restart(board)
        let records = try await board.ask("proximity", "audit")["records"] as? [[String: Any]]
        #expect(records?.map { $0["outcome"] as? String } == ["unknown"])
        #expect(records?.first?["decision"] as? String == "granted")
        #expect(records?.first?["name"] as? String == "the other board")
        #expect(records?.first?["user"] as? String == "alice")
    }

    @Test("a kill before a program's grant is kept leaves its record, and no grant")
    func grant() async throws {
        try await inTurn {
            try await withBoard { _, board in
                let daemon = try await restart(board, toDieAt: Self.grant)
                #expect(try await board.latchkey("grants", "allow", "--user", "games", "--token").status != 0)
                try await expectDeath(of: daemon, at: Self.grant)

                try await restart(board)
                #expect((try await board.ask("grants")["grants"] as? [Any])?.isEmpty == true)
                let records = try await board.ask("grants", "log")["records"] as? [[String: Any]]
                #expect(records?.map { $0["outcome"] as? String } == ["allowed"])
            }
        }
    }

    // MARK: Steps

    private func withBoard(_ body: (Lab, TestBoard) async throws -> Void) async throws {
        var configuration = LabConfiguration()
        configuration.broker = false
        try await withLabAndBoard(configuration, settings: "[telemetry]\nenabled = false") { lab, board in
            _ = try await board.enroll(at: lab)
            try await body(lab, board)
        }
    }

    @discardableResult
    private func restart(_ board: TestBoard, toDieAt point: String? = nil) async throws -> RunningProgram {
        if point != nil { try await board.stop() }
        board.environment = point.map { ["LATCHKEY_KILL_AT": $0] } ?? [:]
        try await board.start()
        return try #require(board.daemon)
    }

    private func expectDeath(of daemon: RunningProgram, at point: String) async throws {
        #expect(try await daemon.ended(within: 60) == 128 + SIGKILL)
        #expect(daemon.errors.text.contains("killed at \(point)\n"))
    }
}
