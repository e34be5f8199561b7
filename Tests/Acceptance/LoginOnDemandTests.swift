import Foundation
import GatewayLab
import TestSupport
import Testing

/// A call that needs a user asks for a login; what the board keeps and reports of the user.
@Suite("Login on demand", .serialized, .timeLimit(.minutes(15)))
struct LoginOnDemandTests {
    private func withBoard(
        settings: String = "[login]\nflow = \"password\"\nask_seconds = 600",
        _ body: (Lab, TestBoard) async throws -> Void
    ) async throws {
        var configuration = LabConfiguration()
        configuration.broker = false
        try await withLabAndBoard(configuration, settings: settings) { lab, board in
            _ = try await board.enroll(at: lab)
            try await body(lab, board)
        }
    }

    private func isNothingAsked(_ board: TestBoard) async throws -> Bool {
        (try await board.ask("prompts")["prompts"] as? [Any])?.isEmpty == true
    }

    @Test("a call that needs a user waits for a program's answer by name and password, then is that user's")
    func answered() async throws {
        try await withBoard { _, board in
            let (call, other) = (try board.follow("call", "GET", "/lab/hello"), try board.follow("whoami", "--info"))
            let prompt = try await board.prompt()
            let id = "\(prompt["id"] ?? 0)"
            #expect(prompt["kind"] as? String == "log-in" && prompt["secret"] as? Bool == true)
            let wrong = try await board.latchkey("prompts", "answer", id, "--user", "alice", input: "not-hers\n")
            #expect(wrong.status == 0)
            let again = try await fault(board)
            #expect(again["id"] as? Int == prompt["id"] as? Int && again["attemptsLeft"] as? Int == 2)
            let right = try await board.latchkey(
                "prompts", "answer", id, "--user", "alice", input: "alice-password\n")
            #expect(right.status == 0)
            #expect(try await call.ended() == 0 && call.output.text.contains("Hello, alice"))
            #expect(try await other.ended() == 0 && other.output.text.contains("alice@lab.test"))
            #expect(try await isNothingAsked(board))
            let log = try #require(board.daemon?.errors.text)
            #expect(!log.contains("alice-password") && !log.contains("not-hers"))
        }
    }

    /// The prompt once it is asked again.
    private func fault(_ board: TestBoard) async throws -> [String: Any] {
        let end = ContinuousClock.now + .seconds(60)
        repeat {
            let prompt = try await board.prompt()
            if prompt["fault"] is String { return prompt }
        } while ContinuousClock.now < end
        throw Unexpected("the prompt is not asked again")
    }

    @Test("a waiting call is made for whoever logs in otherwise, and fails where the login is refused")
    func otherwise() async throws {
        try await withBoard { _, board in
            let refused = try board.follow("call", "GET", "/lab/hello")
            #expect(
                try await board.latchkey("prompts", "answer", "\(try await board.prompt()["id"] ?? 0)", "--refuse")
                    .status
                    == 0)
            #expect(try await refused.ended() != 0)
            #expect(refused.errors.text.contains("prompt.declined") && refused.errors.text.contains("130005"))

            let call = try board.follow("call", "GET", "/lab/hello")
            _ = try await board.prompt()
            let logIn = try await board.latchkey("login", "--user", "bob", "--password-stdin", input: "bob-password\n")
            #expect(logIn.status == 0)
            #expect(try await call.ended() == 0 && call.output.text.contains("Hello, bob"))
            #expect(try await isNothingAsked(board))
        }
    }

    @Test("a login on demand at a terminal asks for the name, and for the password without echo")
    func terminal() async throws {
        try await withBoard { _, board in
            let call = try board.follow("call", "GET", "/lab/hello")
            let id = "\(try await board.prompt()["id"] ?? 0)"
            let answer = try TerminalProgram(
                Program(name: "latchkey").url, ["prompts", "answer", id, "--socket", board.socket])
            try await answer.shows("User:")
            answer.type("alice\n")
            try await answer.shows("Password of alice:")
            answer.type("alice-password\n")
            #expect(try await answer.ended() == 0)
            #expect(!answer.screen.text.contains("alice-password"))
            #expect(try await call.ended() == 0)
        }
    }

    @Test("a call that needs a user fails at once without the setting; status shows flow and user (MAG 13.1)")
    func switchedOff() async throws {
        try await withBoard(settings: "[login]\nflow = \"password\"") { _, board in
            _ = try await board.ask("token", "--as", "board")
            let before = try await user(board)
            #expect(before["status"] as? String == "anonymous" && before["flow"] as? String == "password")
            let events = try board.follow("status", "--follow")
            _ = try await events.output.line(containing: "uptime")
            let call = try await board.latchkey("call", "GET", "/lab/hello", "--json")
            #expect(call.status != 0 && call.errors.contains("gateway.user-required"))
            _ = try await events.output.line(containing: "gateway.user-authentication-required")
            #expect(try await isNothingAsked(board))
            #expect(
                try await board.latchkey("login", "--user", "alice", "--password-stdin", input: "alice-password\n")
                    .status == 0)
            _ = try await events.output.line(containing: "gateway.user-did-update-information")
            #expect(try await user(board)["status"] as? String == "user")
            #expect(try await board.latchkey("call", "GET", "/lab/hello").output.contains("Hello, alice"))
            try await events.stop(SIGKILL)
        }
    }

    private func user(_ board: TestBoard) async throws -> [String: Any] {
        let result = try await Program(url: URL(filePath: "/usr/bin/curl")).run(
            ["-sS", "--unix-socket", board.socket, "http://localhost/v1/user"])
        return try result.json
    }

    @Test("what the gateway says about the user outlives a restart, and its session is asked for (MAG 5.7, 5.9)")
    func profile() async throws {
        try await withBoard(settings: "") { lab, board in
            let none = try await board.latchkey("whoami", "--profile", "--json")
            #expect(none.errors.contains("gateway.user-required"))
            #expect(
                try await board.latchkey("login", "--user", "alice", "--password-stdin", input: "alice-password\n")
                    .status == 0)
            #expect(try await board.ask("whoami", "--session")["session"] as? String == "active")
            try await board.stop(SIGKILL)
            await lab.suspend()
            try await board.start()
            let profile = try await board.ask("whoami", "--profile")
            #expect(profile["userName"] as? String == "alice" && profile["familyName"] as? String == "Archer")
            #expect(profile["emails"] as? [String] == ["alice@lab.test"])
            #expect((profile["addresses"] as? [[String: Any]])?.first?["locality"] as? String == "Locksmith")
            #expect(try await board.latchkey("whoami", "--info").status != 0)
            try await lab.resume()
            #expect(try await board.latchkey("logout", "--only-this").status == 0)
            #expect(await !lab.loggedIn().values.joined().contains("alice"))
        }
    }
}
