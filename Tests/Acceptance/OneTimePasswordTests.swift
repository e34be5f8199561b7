import Foundation
import GatewayLab
import TestSupport
import Testing

/// APIs that demand a one-time password: what a person at a terminal, one elsewhere and a program see.
@Suite("One-time passwords on a board", .serialized, .timeLimit(.minutes(15)))
struct OneTimePasswordTests {
    /// A board where alice is logged in, at a lab that demands passwords.
    private func withAlice(
        settings: String = "[otp]\nask_seconds = 600\n",
        _ policy: @escaping @Sendable (inout OneTimePasswordPolicy) -> Void = { _ in },
        _ body: (Lab, TestBoard) async throws -> Void
    ) async throws {
        try await CallBoard.withUser(settings: settings) { lab, board in
            try await lab.demandOneTimePasswords(at: [.hello, .upload, .file], policy)
            lab.resetCounts()
            try await body(lab, board)
        }
    }

    private func password(_ lab: Lab) async throws -> String {
        try #require(await lab.oneTimePasswords().first { $0.owner == "alice" }?.password)
    }

    /// The prompt once it is of that kind, and has or lacks a fault.
    private func prompt(_ board: TestBoard, _ kind: String, faulty: Bool = false) async throws -> [String: Any] {
        let end = ContinuousClock.now + .seconds(60)
        repeat {
            let prompt = try await board.prompt()
            if prompt["kind"] as? String == kind, prompt["state"] as? String == "waiting",
                (prompt["fault"] is String) == faulty
            {
                return prompt
            }
        } while ContinuousClock.now < end
        throw Unexpected("no prompt of the kind \(kind)")
    }

    private func answer(_ board: TestBoard, _ prompt: [String: Any], _ arguments: String..., input: String? = nil)
        async throws
    {
        let all = ["prompts", "answer", "\(prompt["id"] ?? 0)", "--socket", board.socket] + arguments
        let result = try await Program(name: "latchkey").run(all, input: input)
        guard result.status == 0 else { throw Unexpected(result.errors) }
    }

    private func isNothingAsked(_ board: TestBoard) async throws -> Bool {
        (try await board.ask("prompts")["prompts"] as? [Any])?.isEmpty == true
    }

    @Test("a person at the terminal chooses how a one-time password is sent, mistypes it, then types it (cl 30)")
    func terminal() async throws {
        try await withAlice(settings: "") { lab, board in
            let call = try TerminalProgram(
                Program(name: "latchkey").url, ["call", "/lab/hello", "--socket", board.socket])
            try await call.shows("How to send the one-time password")
            try await call.shows("Number or name:")
            #expect(call.screen.text.contains("1  EMAIL") && call.screen.text.contains("3  EMAIL,SMS"))
            call.type("4\n")
            try await call.shows("or an empty line to refuse:")
            call.type("sms\n")
            try await call.shows("sent by SMS:")
            let first = try await prompt(board, "one-time-password")
            #expect(first["secret"] as? Bool == true && first["answerers"] as? String == "user")
            #expect(first["attemptsLeft"] as? Int == 3 && first["secondsLeft"] is Int)
            #expect(value(first, "subject", "user") as? String == "alice")
            call.type("000000x\n")
            try await call.shows("the one-time password is wrong (2 attempts left)")
            let right = try await password(lab)
            call.type("\(right)\n")
            #expect(try await call.ended() == 0)
            #expect(call.screen.text.contains("Hello, alice"))
            let log = try #require(board.daemon?.errors.text)
            for text in [log, call.screen.text] { #expect(!text.contains(right) && !text.contains("000000x")) }
            #expect(lab.requestCounts[.oneTimePassword] == 1 && lab.requestCounts[.hello] == 3)
        }
    }

    @Test("an empty line or Ctrl-C refuses a one-time password at the terminal, and an answer elsewhere counts")
    func refusedAtTerminal() async throws {
        try await withAlice(settings: "") { lab, board in
            func call() throws -> TerminalProgram {
                try TerminalProgram(Program(name: "latchkey").url, ["call", "/lab/hello", "--socket", board.socket])
            }
            let first = try call()
            try await first.shows("Number or name:")
            first.type("\n")
            #expect(try await first.ended() == 76 && first.screen.text.contains("no way to send"))
            let second = try call()
            try await second.shows("Number or name:")
            try await answer(board, try await prompt(board, "choice"), "--choice", "EMAIL")
            try await second.shows("answered elsewhere")
            try await second.shows("sent by EMAIL:")
            second.type(TerminalProgram.control.c)
            #expect(try await second.ended() == 130)
            let third = try call()
            try await third.shows("Number or name:")
            third.type("1\n")
            try await third.shows("sent by EMAIL:")
            try await answer(board, try await prompt(board, "one-time-password"), input: try await password(lab) + "\n")
            #expect(try await third.ended() == 0 && third.screen.text.contains("Hello, alice"))
            #expect(try await isNothingAsked(board))
        }
    }

    @Test(
        "a program's call waits for a one-time password; an expired one is offered again, a refusal ends it")
    func elsewhere() async throws {
        try await withAlice { lab, board in
            let call = try board.follow("call", "/lab/hello")
            try await answer(board, try await prompt(board, "choice"), "--choice", "EMAIL,SMS")
            let asked = try await prompt(board, "one-time-password")
            #expect(asked["answerers"] as? String == "operators")
            let old = try await password(lab)
            lab.advanceClock(by: .seconds(301))
            try await answer(board, asked, input: old + "\n")
            let again = try await prompt(board, "choice")
            #expect((again["text"] as? String)?.contains("too old; send another") == true)
            try await answer(board, again, "--choice", "SMS")
            try await answer(board, try await prompt(board, "one-time-password"), input: try await password(lab) + "\n")
            #expect(try await call.ended() == 0 && call.output.text.contains("Hello, alice"))

            for (kind, code) in [("choice", 160_201), ("one-time-password", 160_202)] {
                let refused = try board.follow("call", "/lab/hello")
                if kind != "choice" {
                    try await answer(board, try await prompt(board, "choice"), "--choice", "SMS")
                }
                try await answer(board, try await prompt(board, kind), "--refuse")
                #expect(try await refused.ended() == 76)
                let error = value(try JSONSerialization.jsonObject(with: Data(refused.errors.text.utf8)), "error")
                #expect(
                    value(error, "gateway", "number") as? Int == code
                        && value(error, "gateway", "domain") as? String == "local")
            }
        }
    }

    @Test("a person answers for a one-time password on the console: how it is sent, then the password")
    func console() async throws {
        try await withAlice(settings: "[otp]\nask_seconds = 600\n[console]\nenabled = true\n") { lab, board in
            let call = try board.follow("call", "/lab/hello")
            _ = try await prompt(board, "choice")
            let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "console.py").path
            let address = try #require(try await board.ask("console")["address"] as? String)
            let person = try RunningProgram(
                URL(filePath: "/usr/bin/python3"),
                ["-B", script, address, "password", lab.adminURL, lab.adminToken])
            let status = try await person.ended(within: 600)
            #expect(status == 0, "\(person.errors.text)")
            #expect(try await call.ended() == 0 && call.output.text.contains("Hello, alice"))
            #expect(await lab.oneTimePasswords().first?.channels == ["SMS"])
        }
    }

    @Test("three wrong one-time passwords bar the user, and the next call does not ask the gateway (160107)")
    func barred() async throws {
        try await withAlice(settings: "[otp]\nask_seconds = 600\n", { $0.channels = ["SMS"] }) { lab, board in
            let call = try board.follow("call", "/lab/hello")
            for attempt in 1...3 {
                try await answer(
                    board, try await prompt(board, "one-time-password", faulty: attempt > 1), input: "wrong\n")
            }
            #expect(try await call.ended() == 75)
            let error = value(try JSONSerialization.jsonObject(with: Data(call.errors.text.utf8)), "error")
            #expect(value(error, "code") as? String == "otp.barred")
            #expect((value(error, "message") as? String)?.contains("again at 20") == true)
            lab.resetCounts()
            let next = try await CallBoard.refusal(board, "call", "/lab/hello")
            #expect(next.0 == "otp.barred" && next.1 == 160_107 && next.2 == 75)
            #expect(lab.requestCounts[.hello] == nil && lab.requestCounts[.oneTimePassword] == nil)
        }
    }

    @Test("without the setting a call that needs a one-time password gets the API's own answer at once (160101)")
    func nobody() async throws {
        try await withAlice(settings: "") { lab, board in
            let result = try await board.latchkey("call", "/lab/hello", "--json")
            #expect(result.status == 76)
            let answer = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
            #expect(value(answer, "status") as? Int == 401)
            #expect(value(answer, "error", "code") as? String == "otp.not-asked")
            #expect(value(answer, "error", "gateway", "number") as? Int == 160_101)
            #expect(try await isNothingAsked(board))
            #expect(try await Program(name: "latchkey").run(["explain", "160107"]).output.contains("otp.barred"))
        }
    }

    @Test("a call with a file is repeated from its first byte after a one-time password, and answers arrive whole")
    func streams() async throws {
        try await withAlice(settings: "[otp]\nask_seconds = 600\n", { $0.channels = ["SMS"] }) { lab, board in
            let path = board.folder.appending(path: "door.jpg").path
            let content = Data(LabFile.content(to: 3_000_000))
            try content.write(to: URL(filePath: path))
            let upload = try board.follow("call", "/lab/upload", "-T", path)
            try await answer(board, try await prompt(board, "one-time-password"), input: try await password(lab) + "\n")
            #expect(try await upload.ended() == 0)
            #expect(upload.output.text.contains(sha256(of: content)))
            #expect(lab.requestCounts[.upload] == 2)

            let other = board.folder.appending(path: "file").path
            let download = try board.follow("call", "/lab/file/3000000", "-o", other)
            try await answer(board, try await prompt(board, "one-time-password"), input: try await password(lab) + "\n")
            #expect(try await download.ended() == 0)
            #expect(try Data(contentsOf: URL(filePath: other)) == content)
        }
    }

    @Test("a daemon killed while it asks for a one-time password asks nothing afterwards, and calls begin anew")
    func killed() async throws {
        try await withAlice(settings: "[otp]\nask_seconds = 600\n", { $0.channels = ["SMS"] }) { lab, board in
            let call = try board.follow("call", "/lab/hello")
            _ = try await prompt(board, "one-time-password")
            let former = try await password(lab)
            try await board.stop(SIGKILL)
            #expect(try await call.ended() != 0)
            try await board.start()
            #expect(try await isNothingAsked(board))
            let next = try board.follow("call", "/lab/hello")
            let asked = try await prompt(board, "one-time-password")
            #expect(try await password(lab) != former)
            try await answer(board, asked, input: try await password(lab) + "\n")
            #expect(try await next.ended() == 0 && next.output.text.contains("Hello, alice"))
        }
    }
}
