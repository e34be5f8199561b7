import Foundation
import GatewayLab
import TestSupport
import Testing

/// What programs read of the command: one shape for errors, one for events, one for faults.
@Suite("The command as programs use it", .serialized, .timeLimit(.minutes(8)))
struct CommandShapeTests {
    private func object(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any], "\(text)")
    }

    @Test(
        "the command line reports incorrect usage as JSON with --json",
        arguments: [
            ["status", "--json", "--bogus"], ["publish", "--json", "--qos", "7", "a", "b"],
            ["board", "watch", "--json", "--count", "0"],
        ])
    func usage(arguments: [String]) async throws {
        let result = try await Program(name: "latchkey").run(arguments)
        #expect(result.status == 64 && result.output.isEmpty)
        let error = value(try object(result.errors), "error")
        #expect(value(error, "code") as? String == "usage.invalid")
        #expect((value(error, "message") as? String)?.isEmpty == false)
        #expect((value(error, "remedy") as? String)?.isEmpty == false)
        let forPeople = try await Program(name: "latchkey").run(arguments.filter { $0 != "--json" })
        #expect(forPeople.status == 64 && forPeople.errors.contains("Usage: latchkey"))
    }

    @Test("the command line refuses to watch the sensors 0 times, because it would never end")
    func watchNothing() async throws {
        let refused = try await Program(name: "latchkey").run([
            "board", "watch", "--count", "0", "--socket", "/tmp/latchkey-nobody.sock",
        ])
        #expect(refused.status == 64 && refused.errors.contains("--count is 1 or more"))
    }

    @Test("each fault of a settings file is named by path, message and remedy")
    func faults() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).toml")
        defer { try? FileManager.default.removeItem(at: file) }
        try "[agent]\nlog_level = \"loud\"\n".write(to: file, atomically: true, encoding: .utf8)
        let report = try object(
            try await Program(name: "latchkey").run(["config", "check", "--json", file.path]).output)
        let fault = try #require((report["faults"] as? [[String: Any]])?.first)
        #expect(fault["path"] as? String == "agent.log_level")
        #expect((fault["message"] as? String)?.isEmpty == false && (fault["remedy"] as? String)?.isEmpty == false)
    }

    @Test("commands that follow print lines that name their event, and a called API's answer as text")
    func lines() async throws {
        try await withLabAndBoard { lab, board in
            let events = try board.follow("status", "--follow")
            _ = try await events.output.line(containing: "uptime")
            _ = try await board.enroll(at: lab)
            _ = try await events.output.line(containing: "gateway.device-did-register")
            let answer = try await board.ask("call", "GET", "/lab/hello")
            #expect((answer["text"] as? String)?.contains("Hello") == true)
            try await events.stop(SIGKILL)
            let lines = try events.output.lines.filter { $0.hasSuffix("}") }.map(object)
            #expect(lines.first?["event"] as? String == "status")
            #expect(lines.allSatisfy { $0["event"] is String && $0["time"] is String })
        }
    }
}
