import Foundation
import GatewayLab
import TestSupport
import Testing

/// Users of an M-Pin back end, as people and programs of the board meet them. The lab's back end shares no code with
/// the board.
@Suite("M-Pin", .timeLimit(.minutes(15)))
struct MPinTests {
    private let pin = MPinBoard.pin
    private let wrong = MPinBoard.wrongPIN

    @Test("two M-Pin users register and log in at the terminal, and nothing there or in the log shows a PIN")
    func terminal() async throws {
        try await MPinBoard.with { lab, board in
            let test = try await MPinBoard.succeeds(board, "mpin", "backend", "test", "door")
            #expect(test.output == "there is an M-Pin back end at \(lab.mpinURL)\n")
            let new = try await MPinBoard.succeeds(board, "mpin", "user", "new", "alice@lab.example")
            for fact in ["6,331", "16,384", "100 bits", "next: latchkey mpin register start"] {
                #expect(new.output.contains(fact), "\(new.output)")
            }
            try await MPinBoard.succeeds(board, "mpin", "register", "start")
            let early = try await MPinBoard.refusal(board, "mpin", "register", "confirm")
            #expect(early == ("mpin.identity-not-verified", 76))
            try await lab.activateMPin("alice@lab.example")
            let confirmed = try await MPinBoard.succeeds(board, "mpin", "register", "confirm")
            #expect(confirmed.output.contains("next: latchkey mpin register finish"))

            let finishing = try MPinBoard.terminal(board, "mpin", "register", "finish")
            try await finishing.shows("New PIN of alice@lab.example at door")
            #expect(try await board.prompt()["kind"] as? String == "pin")
            finishing.type(pin + "\n")
            try await finishing.shows("The same PIN again")
            finishing.type(wrong + "\n")
            try await finishing.shows("the two differ (2 attempts left)")
            finishing.type(pin + "\n")
            #expect(try await finishing.ended() == 0)
            #expect(finishing.screen.text.contains("alice@lab.example  "))

            // The other one has a code by which nothing else need be verified, and another PIN.
            try await MPinBoard.succeeds(board, "mpin", "user", "new", "bob@lab.example")
            let code = try await lab.issueMPinCode(for: "bob@lab.example")
            let unclear = try await MPinBoard.refusal(board, "mpin", "register", "start")
            #expect(unclear == ("mpin.user-unclear", 64))
            let started = try await MPinBoard.succeeds(
                board, "mpin", "register", "start", "--user", "bob@lab.example", "--code-stdin", input: code + "\n")
            #expect(started.output.contains("ACTIVATED"))
            try await MPinBoard.succeeds(board, "mpin", "register", "confirm", "--user", "bob@lab.example")
            try await MPinBoard.succeeds(
                board, "mpin", "register", "finish", "--user", "bob@lab.example", input: "open, please\n")
            #expect(
                try await MPinBoard.states(board)
                    == ["alice@lab.example": "REGISTERED", "bob@lab.example": "REGISTERED"])

            let logIn = try MPinBoard.terminal(board, "mpin", "login", "--user", "alice@lab.example")
            try await logIn.shows("PIN of alice@lab.example at door")
            logIn.type(wrong + "\n")
            try await logIn.shows("the PIN is wrong (2 attempts left)")
            logIn.type(pin + "\n")
            #expect(try await logIn.ended() == 0)
            #expect(logIn.screen.text.contains("alice@lab.example is logged in"))
            let other = try await MPinBoard.succeeds(
                board, "mpin", "login", "--user", "bob@lab.example", input: "open, please\n")
            #expect(other.output == "bob@lab.example is logged in\n")
            #expect(await lab.mpinUsers().allSatisfy { $0.lastLogin != nil })

            let errors = try #require(board.daemon?.errors)
            for name in ["mpin.user-did-register", "mpin.user-did-log-in", "mpin.user-did-fail-to-log-in"] {
                _ = try await errors.line(containing: name)
            }
            let log = errors.text
            for text in [log, finishing.screen.text, logIn.screen.text] {
                for secret in [pin, wrong, "open, please", code] { #expect(!text.contains(secret)) }
            }
        }
    }

    @Test("an M-Pin back end that asks for the device's name gets it from a terminal, an option, or not at all")
    func deviceName() async throws {
        try await MPinBoard.with { lab, board in
            try await lab.changeMPinPolicy { $0.setDeviceName = true }
            let tested = try await board.ask("mpin", "backend", "test", "door")
            #expect(value(tested, "settings", "setDeviceName") as? String == "true")
            // The settings are fetched with the account, and again by a daemon that starts.
            try await board.stop()
            try await board.start()
            let making = try MPinBoard.terminal(board, "mpin", "user", "new", "alice")
            try await making.shows("Name of this board at the back end")
            making.type("front door\n")
            #expect(try await making.ended() == 0)
            let silent = try await MPinBoard.succeeds(board, "mpin", "user", "new", "bob")
            #expect(silent.output.contains("--device-name NAME"))
            let given = try await MPinBoard.succeeds(
                board, "mpin", "user", "new", "carol", "--device-name", "back door")
            #expect(!given.output.contains("--device-name"))
            for user in ["alice", "bob", "carol"] {
                try await MPinBoard.succeeds(board, "mpin", "register", "start", "--user", user)
            }
            let names = Dictionary(uniqueKeysWithValues: await lab.mpinUsers().map { ($0.user, $0.deviceName) })
            #expect(names == ["alice": "front door", "bob": nil, "carol": "back door"])
        }
    }

    @Test("each M-Pin error has the public clients' status, in JSON, in events and in its explanation")
    func statuses() async throws {
        try await MPinBoard.with { lab, board in
            try await MPinBoard.register("alice", at: lab, on: board)
            let refused = try await Program(name: "latchkey")
                .run(["mpin", "login", "--json", "--socket", board.socket], input: wrong + "\n")
            let error = try JSONSerialization.jsonObject(with: Data(refused.errors.utf8))
            #expect(value(error, "error", "status") as? String == "INCORRECT_PIN")
            let explained = try await Program(name: "latchkey").run(["explain", "INCORRECT_PIN"])
            for name in ["mpin.blocked", "mpin.incorrect-pin", "status"] { #expect(explained.output.contains(name)) }
        }
    }

    @Test("an M-Pin PIN may be entered elsewhere, and whoever is asked may refuse")
    func elsewhere() async throws {
        try await MPinBoard.with { lab, board in
            try await MPinBoard.register("alice", at: lab, on: board)
            let logIn = try MPinBoard.terminal(board, "mpin", "login")
            try await logIn.shows("PIN of alice")
            let id = "\(try await board.prompt()["id"] ?? 0)"
            #expect(try await board.latchkey("prompts", "answer", id, input: pin + "\n").status == 0)
            #expect(try await logIn.ended() == 0)
            #expect(logIn.screen.text.contains("answered elsewhere"))

            let refused = try MPinBoard.terminal(board, "mpin", "login", "--json")
            try await refused.shows("PIN of alice")
            let next = "\(try await board.prompt()["id"] ?? 0)"
            #expect(try await board.latchkey("prompts", "answer", next, "--refuse").status == 0)
            #expect(try await refused.ended() != 0)
            #expect(refused.screen.text.contains("mpin.pin-input-canceled"))
            #expect(await lab.mpinUsers().first?.failures == 0)
        }
    }

    @Test("the third wrong M-Pin PIN in a row blocks the user for good, until the user is deleted")
    func blocked() async throws {
        try await MPinBoard.with { lab, board in
            try await MPinBoard.register("alice", at: lab, on: board)
            for _ in 0..<2 {
                let refused = try await MPinBoard.refusal(board, "mpin", "login", input: wrong + "\n")
                #expect(refused == ("mpin.incorrect-pin", 76))
            }
            // The right one has the back end count anew.
            try await MPinBoard.succeeds(board, "mpin", "login", "--json", input: pin + "\n")
            for code in ["mpin.incorrect-pin", "mpin.incorrect-pin", "mpin.blocked"] {
                let refused = try await MPinBoard.refusal(board, "mpin", "login", input: wrong + "\n")
                #expect(refused == (code, 76))
            }
            _ = try await board.daemon?.errors.line(containing: "mpin.user-did-block")
            try await board.stop()
            try await board.start()
            #expect(try await MPinBoard.states(board) == ["alice": "BLOCKED"])
            let refused = try await MPinBoard.refusal(board, "mpin", "login", input: pin + "\n")
            #expect(refused == ("mpin.wrong-state", 1))
            #expect(try await board.latchkey("doctor").output.contains("alice is blocked at door"))
            #expect(value(try await board.ask("status"), "mpin", "blocked") as? Int == 1)
            try await MPinBoard.succeeds(board, "mpin", "user", "delete", "alice", "--json")
            try await MPinBoard.register("alice", at: lab, on: board)
            try await MPinBoard.succeeds(board, "mpin", "login", input: pin + "\n")
        }
    }

    @Test("M-Pin logs in for a one-time password, a browser with a number or code, and an authorization code")
    func ways() async throws {
        try await MPinBoard.with { lab, board in
            try await MPinBoard.register("alice", at: lab, on: board)
            let password = try await MPinBoard.succeeds(board, "mpin", "otp", input: pin + "\n").output
            let issued = try #require(await lab.mpinUsers().first?.oneTimePassword)
            #expect(password.hasPrefix(issued) && password.contains("valid for"), "\(password)")
            let authorized = try await MPinBoard.succeeds(board, "mpin", "mfa", "--json", input: pin + "\n")
            #expect(try authorized.json["code"] is String)
            let again = try await MPinBoard.succeeds(board, "mpin", "otp", "--json", input: pin + "\n")
            #expect(value(try again.json, "otp", "password") is String)
            #expect(try await board.latchkey("mpin", "logout").status == 1)

            let number = try await lab.openMPinBrowser()
            try await MPinBoard.succeeds(board, "mpin", "access-number", number.code, input: pin + "\n")
            #expect(await lab.mpinBrowsers().first { $0.code == number.code }?.user == "alice")
            #expect(try await board.ask("mpin", "logout")["loggedOut"] as? Bool == true)
            #expect(try await board.latchkey("mpin", "logout").status == 1)
            let mistyped = "\((Int(number.code.prefix(1)) ?? 0) == 1 ? 2 : 1)" + number.code.dropFirst()
            let counts = lab.requestCounts[.mpinPassOne]
            for typed in [mistyped, String(number.code.dropLast()) + "o"] {
                let refused = try await MPinBoard.refusal(board, "mpin", "access-number", typed, input: pin + "\n")
                #expect(refused == ("mpin.access-number-invalid", 65))
            }
            #expect(lab.requestCounts[.mpinPassOne] == counts)

            let scanned = try await lab.openMPinBrowser(withQRCode: true)
            let session = try await board.ask("mpin", "session", scanned.code)
            #expect(session["appName"] as? String == "Latchkey lab")
            try await MPinBoard.succeeds(board, "mpin", "access-number", scanned.code, "--json", input: pin + "\n")
            #expect(await lab.mpinBrowsers().first { $0.code == scanned.code }?.user == "alice")
        }
    }

    @Test("an M-Pin registration goes on after a restart as far as the back end lets it")
    func resumed() async throws {
        try await MPinBoard.with { lab, board in
            func restart() async throws {
                try await board.stop(SIGKILL)
                try await board.start()
            }
            // A user who was only made is in memory.
            try await MPinBoard.succeeds(board, "mpin", "user", "new", "alice")
            try await restart()
            #expect(try await MPinBoard.states(board) == [:])
            try await MPinBoard.succeeds(board, "mpin", "user", "new", "alice")
            for step in ["confirm", "finish"] {
                let early = try await board.latchkey("mpin", "register", step, input: "2580\n")
                #expect(
                    early.status == 1 && early.errors.contains("alice, whose state is INVALID")
                        && early.errors.contains("latchkey mpin register start"), "\(early.errors)")
            }
            try await MPinBoard.succeeds(board, "mpin", "register", "start")
            try await restart()
            #expect(try await MPinBoard.states(board) == ["alice": "STARTED_REGISTRATION"])
            try await lab.activateMPin("alice")
            try await MPinBoard.succeeds(board, "mpin", "register", "confirm")
            // The secret was in memory only, and the back end gives it once.
            try await restart()
            let finish = try await MPinBoard.refusal(board, "mpin", "register", "finish", input: pin + "\n")
            #expect(finish == ("mpin.step-missing", 1))
            let confirm = try await MPinBoard.refusal(board, "mpin", "register", "confirm")
            #expect(confirm == ("mpin.identity-not-verified", 76))
            try await MPinBoard.succeeds(board, "mpin", "register", "restart", "--json")
            try await lab.activateMPin("alice")
            try await MPinBoard.succeeds(board, "mpin", "register", "confirm")
            try await MPinBoard.succeeds(board, "mpin", "register", "finish", input: pin + "\n")
            try await restart()
            #expect(try await MPinBoard.states(board) == ["alice": "REGISTERED"])
            try await MPinBoard.succeeds(board, "mpin", "login", input: pin + "\n")
        }
    }

    @Test("accounts of other kinds have no M-Pin commands, and a removed account is gone with its users")
    func accounts() async throws {
        try await MPinBoard.with { lab, board in
            try await MPinBoard.register("alice", at: lab, on: board)
            let list = try await MPinBoard.succeeds(board, "accounts", "list").output
            #expect(list.contains("door") && list.contains("M-Pin, 1 user"), "\(list)")
            #expect(try await MPinBoard.refusal(board, "token", "--account", "door").code == "account.other-kind")
            _ = try await board.enroll(at: lab)
            let other = try await MPinBoard.refusal(board, "mpin", "user", "list", "--account", "gateway")
            #expect(other.code == "account.other-kind")
            try await MPinBoard.add("gate", at: lab, to: board)
            #expect(try await MPinBoard.refusal(board, "mpin", "user", "list").code == "mpin.account-unclear")
            let twice = try await MPinBoard.refusal(board, "mpin", "backend", "add", "gate", lab.mpinURL)
            #expect(twice.code == "account.exists")
            #expect(try await MPinBoard.refusal(board, "mpin", "backend", "remove", "door").status == 64)
            try await MPinBoard.succeeds(board, "mpin", "backend", "remove", "door", "--yes", "--json")
            #expect(try await MPinBoard.refusal(board, "mpin", "login", input: pin + "\n").code == "mpin.no-user")
            // What a scanned code says of its back end; what follows the # stays here.
            let scanned = [lab.mpinURL + "/#0123456789abcdef", "--authorities", board.folder.path + "/lab.pem"]
            let shown = try await Program(name: "latchkey")
                .run(["mpin", "backend", "show"] + scanned + ["--json", "--socket", board.socket])
            #expect(shown.status == 0, "\(shown.errors)")
            #expect(try shown.json["url"] as? String == lab.mpinURL && shown.json["prefix"] as? String == "rps")
            #expect(board.daemon?.errors.text.contains("0123456789abcdef") == false)
            try await lab.changeMPinPolicy { $0.serviceType = "offline" }
            let offline = try await Program(name: "latchkey")
                .run(["mpin", "backend", "show"] + scanned + ["--json", "--socket", board.socket])
            #expect(offline.errors.contains("mpin.answer-invalid"), "\(offline.errors)")
            // Nothing listens at port 1.
            let gone = try await MPinBoard.refusal(board, "mpin", "backend", "test", "https://127.0.0.1:1")
            #expect(gone == ("mpin.no-answer", 75))
            // Without the lab's own authority.
            let untrusted = try await MPinBoard.refusal(board, "mpin", "backend", "test", lab.mpinURL)
            #expect(untrusted == ("mpin.server-not-trusted", 76))
        }
    }
}
