import Foundation
import GatewayLab
import TestSupport
import Testing

/// What the daemon asks people, answered at the terminal that caused it and elsewhere.
@Suite("Prompts", .serialized, .timeLimit(.minutes(15)))
struct PromptTests {
    private func withRegisteredBoard(_ body: (Lab, TestBoard) async throws -> Void) async throws {
        try await withLabAndBoard(settings: "[proximity]\nconsent_seconds = 110") { lab, board in
            _ = try await board.enroll(at: lab)
            try await body(lab, board)
        }
    }

    private func logIn(_ board: TestBoard, _ arguments: String...) throws -> TerminalProgram {
        try TerminalProgram(
            Program(name: "latchkey").url, ["login", "--user", "alice", "--socket", board.socket] + arguments)
    }

    /// The prompt that waits, after a terminal has shown it.
    private func shownPrompt(_ board: TestBoard) async throws -> [String: Any] {
        try #require((try await board.ask("prompts")["prompts"] as? [[String: Any]])?.first)
    }

    private func isNothingAsked(_ board: TestBoard) async throws -> Bool {
        (try await board.ask("prompts")["prompts"] as? [Any])?.isEmpty == true
    }

    @Test("a log-in at a terminal asks again after a wrong password, under the same number, and shows none")
    func terminal() async throws {
        try await withRegisteredBoard { _, board in
            let command = try logIn(board)
            try await command.shows("Password of alice")
            let first = try await shownPrompt(board)
            #expect(first["kind"] as? String == "password" && first["secret"] as? Bool == true)
            #expect(first["attemptsLeft"] as? Int == 3)
            command.type("not-hers\n")
            try await command.shows("2 attempts left")
            let second = try await shownPrompt(board)
            #expect(second["attemptsLeft"] as? Int == 2)
            #expect(second["id"] as? Int == first["id"] as? Int)
            #expect((second["fault"] as? String)?.contains("wrong") == true)
            command.type("alice-password\n")
            #expect(try await command.ended() == 0)
            #expect(command.screen.text.contains("logged in as alice"))
            #expect(try await board.ask("whoami")["userName"] as? String == "alice")
            #expect(try await isNothingAsked(board))
            let log = try #require(board.daemon?.errors)
            for name in ["prompt.asked", "prompt.answered"] { _ = try await log.line(containing: name) }
            for text in [log.text, command.screen.text] {
                #expect(!text.contains("not-hers") && !text.contains("alice-password"))
            }
        }
    }

    @Test("three wrong passwords end a log-in as one did before, with --json for programs")
    func exhausted() async throws {
        try await withRegisteredBoard { _, board in
            let command = try logIn(board, "--json")
            for left in ["Password of alice", "2 attempts left", "1 attempt left"] {
                try await command.shows(left)
                command.type("not-hers\n")
            }
            #expect(try await command.ended() == 76)
            #expect(command.screen.text.contains("gateway.user-credentials-invalid"))
            #expect(try await isNothingAsked(board))
            #expect(try await board.latchkey("whoami").status == 1)
        }
    }

    @Test("a password prompt can be answered elsewhere, and the waiting terminal goes on by itself")
    func elsewhere() async throws {
        try await withRegisteredBoard { _, board in
            let command = try logIn(board)
            try await command.shows("Password of alice")
            let id = "\(try await shownPrompt(board)["id"] ?? 0)"
            let list = try await board.latchkey("prompts")
            #expect(
                list.output.contains("\(id)  password  Password of alice") && list.output.contains("3 attempts left"))
            #expect(try await board.latchkey("prompts", "answer", id, input: "not-hers\n").status == 0)
            try await command.shows("answered elsewhere (user")
            try await command.shows("2 attempts left")

            let other = try TerminalProgram(
                Program(name: "latchkey").url, ["prompts", "answer", id, "--socket", board.socket])
            try await other.shows("Password of alice")
            other.type("alice-password\n")
            #expect(try await other.ended() == 0)
            #expect(!other.screen.text.contains("alice-password"))
            #expect(try await command.ended() == 0)
            #expect(command.screen.text.contains("logged in as alice"))
            let late = try await board.latchkey("prompts", "answer", id, "--json", input: "alice-password\n")
            #expect(late.status == 1 && late.errors.contains("prompt.unknown"))
        }
    }

    @Test("Ctrl-C at the terminal withdraws a prompt, and a refusal elsewhere ends the log-in")
    func ended() async throws {
        try await withRegisteredBoard { _, board in
            let events = try board.follow("status", "--follow")
            _ = try await events.output.line(containing: "uptime")
            let left = try logIn(board)
            try await left.shows("Password of alice")
            left.type(TerminalProgram.control.c)
            #expect(try await left.ended() == 130)
            _ = try await events.output.line(containing: "prompt.withdrawn")
            #expect(try await isNothingAsked(board))

            let refused = try logIn(board)
            try await refused.shows("Password of alice")
            let id = "\(try await shownPrompt(board)["id"] ?? 0)"
            #expect(try await board.latchkey("prompts", "answer", id, "--refuse", "--json").status == 0)
            #expect(try await refused.ended() == 76)
            #expect(refused.screen.text.contains("the prompt for a password was refused (user"))
            let told = try await events.output.line(containing: "prompt.refused")
            #expect(told.contains(#""by":"user"#))
            try await events.stop(SIGKILL)
        }
    }

    @Test("a log-in with standard input from a pipe takes its first line as password, and asks nobody")
    func program() async throws {
        try await withRegisteredBoard { _, board in
            let result = try await board.latchkey("login", "--user", "alice", "--json", input: "alice-password\nmore\n")
            #expect(result.status == 0 && result.output.contains(#""loggedIn":true"#))
            #expect(board.daemon?.errors.text.contains("prompt.asked") == false)
        }
    }

    @Test("a question for consent is a prompt: one answer closes it everywhere, and is recorded")
    func consent() async throws {
        try await withRegisteredBoard { lab, board in
            #expect(
                try await board.latchkey("login", "--user", "alice", "--password-stdin", input: "alice-password\n")
                    .status == 0)
            let url = "\(lab.baseURL)/auth/device/authorization/"
            let refused = try board.follow("authorize", url + "0123456789abcdef0123456789abcdef", "--name", "the phone")
            let asked = try await board.prompt()
            let id = "\(asked["id"] ?? 0)"
            #expect(asked["kind"] as? String == "consent" && asked["answerers"] as? String == "operators-and-button")
            #expect(asked["id"] as? Int == (try await board.question())["id"] as? Int)
            #expect(value(asked, "subject", "name") as? String == "the phone")
            #expect(value(asked, "subject", "way") as? String == "qr")
            let unclear = try await board.latchkey("prompts", "answer", id, input: "yes\n")
            #expect(unclear.status == 64 && unclear.errors.contains("--grant or --refuse"))
            #expect(try await board.latchkey("prompts", "answer", id, "--refuse").status == 0)
            #expect(try await refused.ended() != 0)
            #expect(refused.errors.text.contains("proximity.user-declined"))
            let late = try await board.latchkey("consent", "grant", id, "--json")
            #expect(late.errors.contains("proximity.no-such-request"))

            let granted = try board.follow("authorize", url + "fedcba9876543210fedcba9876543210")
            let next = "\(try await board.prompt()["id"] ?? 0)"
            #expect(try await board.latchkey("prompts", "answer", next, "--grant").status == 0)
            // The gateway knows no such session: consent was given, and the call that followed says so.
            #expect(try await granted.ended() != 0)
            #expect(granted.errors.text.contains("proximity.authorization-failed"))
            let records = try #require(try await board.ask("proximity", "audit")["records"] as? [[String: Any]])
            #expect(records.map { $0["decision"] as? String } == ["refused", "granted"])
            #expect(records.allSatisfy { ($0["by"] as? String)?.hasPrefix("user ") == true })
            let last = try #require(try await prompts(board, granting: url).last)
            #expect(last == "granted")
        }
    }

    /// The other way round: `latchkey consent` answers what is listed as a prompt. - Returns: the decisions of the
    /// record.
    private func prompts(_ board: TestBoard, granting url: String) async throws -> [String?] {
        let asking = try board.follow("authorize", url + "00112233445566778899aabbccddeeff")
        let id = "\(try await board.prompt()["id"] ?? 0)"
        #expect(try await board.latchkey("consent", "grant", id).status == 0)
        let late = try await board.latchkey("prompts", "answer", id, "--refuse", "--json")
        #expect(late.status == 1 && late.errors.contains("prompt.unknown"))
        _ = try await asking.ended()
        let records = try await board.ask("proximity", "audit")["records"] as? [[String: Any]]
        return records?.map { $0["decision"] as? String } ?? []
    }

    /// Debian's own user, who may operate the board as root may, but is another one.
    private static let guest = ["--reuid=games", "--regid=nogroup", "--clear-groups"]

    @Test(
        "a prompt for a certain user is answered by nobody else, not even root",
        .enabled(if: getuid() == 0, "asks as another user"))
    func oneUser() async throws {
        let lab = try await Lab.start()
        let board = try TestBoard()
        do {
            let access = "[api]\ngroup = \"nogroup\"\noperate = [\"games\"]\n"
            try String(contentsOf: board.configuration, encoding: .utf8).replacingOccurrences(
                of: "[api]\n", with: access
            )
            .write(to: board.configuration, atomically: true, encoding: .utf8)
            // Others have to reach the socket in it.
            chmod(board.folder.path, 0o755)
            try await board.start()
            _ = try await board.enroll(at: lab)
            let asking = try guest(
                board, "/v1/login/prompted", posting: #"{"userName":"alice","answerers":"user"}"#)
            let asked = try await board.prompt()
            let id = "\(asked["id"] ?? 0)"
            #expect(asked["answerers"] as? String == "user" && asked["uid"] as? Int == 5)
            for refused in [
                try await board.latchkey("prompts", "answer", id, "--json", input: "alice-password\n"),
                try await board.latchkey("prompts", "answer", id, "--refuse", "--json"),
            ] {
                #expect(refused.status == 77 && refused.errors.contains("prompt.for-another-user"))
            }
            // Who may only operate does not see what is asked.
            let list = try guest(board, "/v1/prompts")
            #expect(try await list.ended() == 0)
            #expect(list.output.text.contains("local-api.access-denied"))
            let answer = try guest(board, "/v1/prompts/\(id)", posting: #"{"text":"alice-password"}"#)
            #expect(try await answer.ended() == 0)
            #expect(answer.output.text.contains("answered"))
            #expect(try await asking.ended() == 0)
            #expect(asking.output.text.contains("event: logged-in"))
            #expect(try await board.ask("whoami")["userName"] as? String == "alice")
        } catch {
            try? await board.tearDown()
            await lab.stop()
            throw error
        }
        try await board.tearDown()
        await lab.stop()
    }

    private func guest(_ board: TestBoard, _ target: String, posting body: String? = nil) throws -> RunningProgram {
        try RunningProgram(
            URL(filePath: "/usr/bin/setpriv"),
            Self.guest + ["curl", "-sSN", "-m", "170"] + (body.map { ["--data-binary", $0] } ?? [])
                + ["--unix-socket", board.socket, "http://localhost\(target)"])
    }
}
