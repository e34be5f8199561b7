import Foundation
import GatewayLab
import TestSupport
import Testing

/// The lock of a user's session, as a user of the program meets it (MAG 12.3).
@Suite("A locked session", .timeLimit(.minutes(15)))
struct SessionLockTests {
    private func withUser(
        _ change: (inout LabConfiguration) -> Void = { $0.broker = false }, settings: String = "",
        _ body: (Lab, TestBoard) async throws -> Void
    ) async throws {
        var configuration = LabConfiguration()
        change(&configuration)
        let quiet = "[telemetry]\nenabled = false\n[storage]\nlocal = true\n[lock]\n" + settings
        try await withLabAndBoard(configuration, settings: quiet) { lab, board in
            _ = try await board.enroll(at: lab)
            try await logIn(board, as: "alice")
            try await body(lab, board)
        }
    }

    private func logIn(_ board: TestBoard, as user: String) async throws {
        let result = try await board.latchkey("login", "--user", user, input: "\(user)-password\n")
        guard result.status == 0 else { throw Unexpected(result.errors) }
    }

    private func lock(_ board: TestBoard, _ passcode: String = "2580") async throws {
        let result = try await board.latchkey("lock", input: passcode + "\n")
        guard result.status == 0 else { throw Unexpected(result.errors) }
    }

    /// The error of a subcommand that has to be refused.
    private func refusal(_ board: TestBoard, _ arguments: [String], input: String? = nil) async throws -> [String: Any]
    {
        let result = try await Program(name: "latchkey")
            .run(arguments + ["--json", "--socket", board.socket], input: input)
        guard result.status != 0 else { throw Unexpected("\(arguments) was not refused") }
        let error = try JSONSerialization.jsonObject(with: Data(result.errors.utf8))
        return try #require(value(error, "error") as? [String: Any])
    }

    @Test("a locked session refuses calls, tokens, log-ins and services, and the board goes on (MAG checklist 42)")
    func refused() async throws {
        try await withUser { lab, board in
            let locked = try await board.latchkey("lock", input: "2580\n")
            #expect(locked.output == "the session of alice is locked\n")
            let again = try await board.latchkey("lock", "--json", input: "9999\n")
            #expect(again.status == 0 && again.output.contains(#""changed":false"#))
            #expect(again.output.contains(#""number":130006"#))
            lab.resetCounts()
            for (arguments, input) in [
                (["call", "--as", "user", "GET", "/lab/hello"], nil), (["call", "GET", "/lab/hello"], nil),
                (["token", "--as", "user"], nil), (["token"], nil), (["token", "--as", "user", "--refresh"], nil),
                (["login", "--user", "alice"], "alice-password\n"), (["login", "--user", "bob"], "bob-password\n"),
                (["login", "--jwt"], "a.b.c\n"), (["login", "--providers"], nil), (["logout"], nil),
                (["logout", "--force"], nil), (["whoami", "--info"], nil), (["whoami", "--profile"], nil),
                (["whoami", "--session"], nil), (["users", "list"], nil), (["devices"], nil), (["apps", "list"], nil),
                (["storage", "list", "--segment", "application-user"], nil),
                (["authorize", lab.baseURL + "/auth/device/authorization/0123456789abcdef0123456789abcdef"], nil),
            ] as [([String], String?)] {
                let error = try await refusal(board, arguments, input: input)
                #expect(error["code"] as? String == "lock.session-locked", "\(arguments): \(error)")
                #expect(value(error, "gateway", "number") as? Int == 130_008)
                #expect(value(error, "gateway", "domain") as? String == "local")
            }
            #expect(lab.requestCounts.isEmpty, "\(lab.requestCounts)")

            #expect(try await board.latchkey("call", "--as", "board", "GET", "/lab/hello").status == 0)
            #expect(try await board.latchkey("storage", "list").status == 0)
            let who = try await board.latchkey("whoami")
            #expect(who.status == 1 && who.output.contains("the session of alice is locked"))
            #expect(try await board.latchkey("status").output.contains("alice, locked"))
            let doctor = try await board.latchkey("doctor")
            #expect(doctor.output.contains("locked: the session of alice"))
        }
    }

    @Test("a locked session opens by its passcode alone, even after a restart, and gets a token by jwt-bearer")
    func unlocked() async throws {
        try await withUser { lab, board in
            let events = try board.follow("status", "--follow")
            _ = try await events.output.line(containing: "uptime")
            try await lock(board)
            _ = try await events.output.line(containing: "gateway.session-did-lock")
            try await events.stop(SIGKILL)
            try await board.stop()
            try await board.start()
            let refused = try await refusal(board, ["call", "--as", "user", "GET", "/lab/hello"])
            #expect(refused["code"] as? String == "lock.session-locked")

            let wrong = try await refusal(board, ["unlock"], input: "1111\n")
            #expect(wrong["code"] as? String == "lock.passcode-wrong")
            #expect(try await refusal(board, ["unlock"], input: "1\n")["code"] as? String == "lock.passcode-invalid")
            lab.resetCounts()
            // The wait after a wrong passcode is over at some time.
            var right = try await board.latchkey("unlock", input: "2580\n")
            while right.status != 0, right.errors.contains("may be made in") {
                right = try await board.latchkey("unlock", input: "2580\n")
            }
            #expect(right.output == "unlocked; alice is logged in\n", "\(right.errors)")
            let again = try await board.latchkey("unlock", "--json", input: "1111\n")
            #expect(again.status == 0 && again.output.contains(#""number":130007"#))
            #expect(try await board.latchkey("call", "GET", "/lab/hello").output.contains("Hello, alice"))
            #expect(lab.requestCounts[.token] == 1 && lab.requestCounts[.registration] == nil)
            let errors = try #require(board.daemon?.errors)
            for end in ["fail-to-unlock", "unlock"] { _ = try await errors.line(containing: "session-did-\(end)") }
            let log = errors.text
            for secret in ["2580", "1111"] { #expect(!log.contains(#""\#(secret)""#) && !log.contains("=\(secret)")) }
        }
    }

    @Test("a locked session is given up after the last wrong passcode and by --remove, and the user logs in again")
    func givenUp() async throws {
        try await withUser(settings: "attempts = 2\ndelay_seconds = 0") { _, board in
            try await lock(board)
            #expect(try await refusal(board, ["unlock"], input: "1111\n")["code"] as? String == "lock.passcode-wrong")
            #expect(
                try await refusal(board, ["unlock"], input: "1111\n")["code"] as? String == "lock.attempts-used-up")
            #expect(try await board.latchkey("whoami").output.contains("no user is logged in"))
            try await logIn(board, as: "alice")
            try await lock(board)
            #expect(try await board.latchkey("lock", "--remove").status == 0)
            #expect(try await board.latchkey("lock", "--remove").output == "nothing is locked\n")
            let user = try await refusal(board, ["lock"], input: "2580\n")
            #expect(user["code"] as? String == "gateway.user-required")
            try await logIn(board, as: "bob")
            #expect(try await board.ask("whoami")["userName"] as? String == "bob")
        }
    }

    /// A request for the prompted lock, or for the prompted end of one.
    private func ask(_ board: TestBoard, _ path: String) throws -> RunningProgram {
        try RunningProgram(
            URL(filePath: "/usr/bin/env"),
            [
                "curl", "-sSN", "-m", "120", "--unix-socket", board.socket, "-X", "POST",
                "http://localhost/v1/session/\(path)/prompted",
            ])
    }

    private func answer(_ prompt: [String: Any], at board: TestBoard, _ passcode: String = "2580") async throws {
        let result = try await board.latchkey("prompts", "answer", "\(prompt["id"] ?? 0)", input: passcode + "\n")
        guard result.status == 0 else { throw Unexpected(result.errors) }
    }

    @Test("a passcode that is asked for one user's session neither locks nor unlocks that of the next")
    func otherUser() async throws {
        try await withUser { _, board in
            let locking = try ask(board, "lock")
            try await answer(try await board.prompt(), at: board)
            let again = try await board.prompt()
            #expect(try await board.latchkey("logout").status == 0)
            try await logIn(board, as: "bob")
            try await answer(again, at: board)
            _ = try await locking.ended()
            #expect(locking.output.text.contains("gateway.user-required"), "\(locking.output.text)")
            #expect(try await board.ask("whoami")["userName"] as? String == "bob")

            try await lock(board)
            let unlocking = try ask(board, "unlock")
            let prompt = try await board.prompt()
            #expect((prompt["text"] as? String)?.hasSuffix("of bob") == true)
            #expect(try await board.latchkey("lock", "--remove").status == 0)
            try await logIn(board, as: "alice")
            try await lock(board)
            try await answer(prompt, at: board)
            _ = try await unlocking.ended()
            #expect(unlocking.output.text.contains("lock.session-locked"), "\(unlocking.output.text)")
            let left = try await board.ask("status")["user"] as? [String: Any]
            #expect(left?["locked"] as? Bool == true && left?["attemptsLeft"] as? Int == 10, "\(left ?? [:])")
        }
    }

    @Test("a locked session that has ended meanwhile is given up when it is unlocked, with 130102")
    func ended() async throws {
        try await withUser { _, board in
            try await lock(board)
            let state = try await board.ask("status")["user"] as? [String: Any]
            let end = try Date(try #require(state?["sessionEnds"] as? String), strategy: .iso8601)
            try await board.stop()
            // The agent knows from this file how late it was once: later than the end of the session.
            let clock = board.state.appending(path: "clock").path
            if !FileManager.default.fileExists(atPath: clock) {
                #expect(FileManager.default.createFile(atPath: clock, contents: nil))
            }
            try FileManager.default.setAttributes([.modificationDate: end + 60], ofItemAtPath: clock)
            try await board.start()
            let error = try await refusal(board, ["unlock"], input: "2580\n")
            #expect(error["code"] as? String == "lock.session-ended")
            #expect(value(error, "gateway", "number") as? Int == 130_102)
            #expect(try await board.latchkey("whoami").output.contains("no user is logged in"))
            try await board.stop()
            try FileManager.default.removeItem(atPath: clock)
            try await board.start()
            try await logIn(board, as: "alice")
        }
    }

    @Test("locking a session drops the user's broker connection, and messages are refused with 530008")
    func broker() async throws {
        try await withUser({ _ in }) { lab, board in
            _ = try await board.status { $0.userBroker?.state == "connected" }
            try await lock(board)
            _ = try await board.status { $0.userBroker == nil && $0.isConnected }
            let error = try await refusal(board, ["send", "--as", "user", "--user", "bob", "late"])
            #expect(error["code"] as? String == "lock.messages-locked")
            #expect(value(error, "gateway", "number") as? Int == 530_008)
            #expect(value(error, "gateway", "domain") as? String == "messaging")
            #expect(try await board.latchkey("send", "--user", "bob", "the board's own").status == 0)
            #expect(try await board.latchkey("unlock", input: "2580\n").status == 0)
            _ = try await board.status { $0.userBroker?.state == "connected" }
            #expect(try await board.latchkey("send", "--as", "user", "--user", "bob", "hello").status == 0)
            // One that the broker does not have when the session is locked is refused as well.
            await lab.suspendBroker()
            let sent = try #require(try await board.status().userBroker?.sent)
            let waiting = try board.follow("send", "--as", "user", "--user", "bob", "--topic", "late", "x")
            _ = try await board.status { ($0.userBroker?.sent ?? 0) > sent }
            try await lock(board)
            #expect(try await waiting.ended() != 0)
            #expect(waiting.errors.text.contains("lock.messages-locked"), "\(waiting.errors.text)")
            await lab.resumeBroker()
        }
    }

    @Test("locking a session ends the streams of the user's messages with 530008, and nothing more is delivered")
    func subscriptions() async throws {
        try await withUser({ _ in }) { lab, board in
            let topic = "/2.0/client/users/alice/custom/note"
            let phone = try await SecondClient(named: "phone", user: "bob", at: lab, in: board.folder)
            let (users, boards) = (try board.follow("subscribe", "--as", "user"), try board.follow("subscribe"))
            for reader in [users, boards] { _ = try await reader.errors.line(containing: "subscribed") }
            try await phone.publish("before", to: topic)
            _ = try await users.output.line(containing: "before")
            try await lock(board)
            try await phone.publish("while it is locked", to: topic)
            #expect(try await users.ended() != 0)
            #expect(users.errors.text.contains("lock.messages-locked") && users.errors.text.contains("530008"))
            let refused = try await refusal(board, ["subscribe", "--as", "user"])
            #expect(refused["code"] as? String == "lock.messages-locked")

            // The board's own go on.
            _ = try await board.ask("publish", "own", "the board's")
            _ = try await boards.output.line(containing: "the board's")
            #expect(try await board.latchkey("unlock", input: "2580\n").status == 0)
            let again = try board.follow("subscribe", "--as", "user")
            _ = try await again.errors.line(containing: "subscribed")
            try await phone.publish("after", to: topic)
            _ = try await again.output.line(containing: "after")
            #expect(!users.output.text.contains("while it is locked"))
        }
    }

    @Test("a session is locked and unlocked at a terminal by prompts, which can be answered elsewhere")
    func terminal() async throws {
        try await withUser(settings: "delay_seconds = 0") { _, board in
            let locking = try TerminalProgram(Program(name: "latchkey").url, ["lock", "--socket", board.socket])
            try await locking.shows("New passcode for the session of alice")
            locking.type("2580\n")
            try await locking.shows("The same passcode again")
            locking.type("2581\n")
            try await locking.shows("the two differ (2 attempts left)")
            let prompt = try await board.prompt()
            #expect(prompt["kind"] as? String == "lock-passcode" && prompt["secret"] as? Bool == true)
            let id = "\(prompt["id"] ?? 0)"
            #expect(try await board.latchkey("prompts", "answer", id, input: "2580\n").status == 0)
            #expect(try await locking.ended() == 0)
            #expect(locking.screen.text.contains("the session of alice is locked"))

            let unlocking = try TerminalProgram(Program(name: "latchkey").url, ["unlock", "--socket", board.socket])
            try await unlocking.shows("Passcode for the session of alice")
            unlocking.type("1111\n")
            try await unlocking.shows("9 attempts left")
            unlocking.type("2580\n")
            #expect(try await unlocking.ended() == 0)
            #expect(unlocking.screen.text.contains("unlocked; alice is logged in"))
            for text in [locking.screen.text, unlocking.screen.text] {
                #expect(!text.contains("2580") && !text.contains("1111"))
            }
        }
    }

    @Test("unlocking a session takes a press of the board's button, too, if the settings say so")
    func button() async throws {
        try await withUser(settings: "needs_button = true") { _, board in
            try await lock(board)
            let unlocking = try TerminalProgram(Program(name: "latchkey").url, ["unlock", "--socket", board.socket])
            try await unlocking.shows("Passcode for the session of alice")
            unlocking.type("2580\n")
            try await unlocking.shows("press the board's button")
            #expect(try await board.latchkey("whoami").output.contains("is locked"))
            let press = #"{"milliseconds":100}"#
            #expect(try await LocalRequest.post(press, to: "/v1/board/button", socket: board.socket) == 200)
            #expect(try await unlocking.ended() == 0)
            #expect(try await board.latchkey("whoami").status == 0)
        }
    }
}
