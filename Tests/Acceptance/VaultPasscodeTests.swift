import Foundation
import GatewayLab
import TestSupport
import Testing

/// The passcode of a board's store, as people and programs meet it: numbers of checks are those of SMP.
@Suite("A store with a passcode", .timeLimit(.minutes(15)))
struct VaultPasscodeTests {
    private static let right = "a good passcode"
    private static let settings = "[storage]\nlocal = true\n"

    /// A registered board where alice is logged in, with an item of hers.
    private func withUser(_ settings: String = settings, _ body: (Lab, TestBoard) async throws -> Void) async throws {
        try await withLabAndBoard(settings: settings) { lab, board in
            _ = try await board.enroll(at: lab)
            _ = try await board.status { $0.isConnected }
            try await UserBoard.logIn(board, as: "alice")
            try await board.ask("storage", "save", "greeting", "hello", "--segment", "application-user")
            try await body(lab, board)
        }
    }

    @discardableResult
    private func give(
        _ board: TestBoard, _ command: [String], _ passcodes: String..., refusedBy code: String? = nil
    ) async throws -> [String: Any] {
        let result = try await Program(name: "latchkey").run(
            ["vault"] + command + ["--json", "--socket", board.socket], input: passcodes.joined(separator: "\n") + "\n")
        guard let code else {
            guard result.status == 0 else { throw Unexpected("\(command): \(result.errors)") }
            return try result.json
        }
        let error = try JSONSerialization.jsonObject(with: Data(result.errors.utf8))
        #expect(value(error, "error", "code") as? String == code, "\(result)")
        return try #require(value(error, "error") as? [String: Any])
    }

    /// Tries until the wait after a wrong passcode is over.
    private func unlock(_ board: TestBoard, _ passcode: String = right) async throws {
        func attempt() async throws -> Program.Result {
            try await Program.shipped.run(
                ["vault", "unlock", "--json", "--socket", board.socket], input: passcode + "\n")
        }
        var result = try await attempt()
        while result.errors.contains("can be tried again in") { result = try await attempt() }
        guard result.status == 0 else { throw Unexpected(result.errors) }
    }

    private let personal: [[String]] = [
        ["call", "--as", "user", "GET", "/lab/hello"], ["call", "GET", "/lab/hello"], ["token", "--as", "user"],
        ["token"], ["logout"], ["logout", "--force"], ["whoami", "--info"], ["whoami", "--profile"],
        ["lock", "--passcode-stdin"], ["users", "list"], ["devices"], ["apps", "list"],
        ["storage", "list", "--segment", "application-user"],
        ["storage", "find", "greeting", "--segment", "application-user"],
        ["login", "--user", "bob", "--password-stdin"],
    ]

    @Test("a locked passcode refuses what is of a person, and the board's telemetry and calls go on")
    func locked() async throws {
        try await withUser { lab, board in
            try await give(board, ["passcode", "set"], Self.right)
            #expect(try await board.latchkey("call", "GET", "/lab/hello").output.contains("Hello, alice"))
            let state = try await board.ask("vault", "lock")
            #expect(value(state, "passcode", "locked") as? Bool == true)
            lab.resetCounts()
            for arguments in personal {
                let result = try await Program(name: "latchkey").run(
                    arguments + ["--json", "--socket", board.socket], input: "bob-password\n")
                let error = try JSONSerialization.jsonObject(with: Data(result.errors.utf8))
                let code = value(error, "error", "code") as? String
                let number = value(error, "error", "gateway", "number") as? Int
                #expect(
                    code == "vault.locked" && number == 130_008 || code == "item.locked", "\(arguments): \(result)")
            }
            #expect(lab.requestCounts.isEmpty, "\(lab.requestCounts)")

            #expect(try await board.latchkey("call", "--as", "board", "GET", "/lab/hello").status == 0)
            #expect(try await board.latchkey("storage", "list").status == 0)
            #expect(try await board.latchkey("publish", "door", "open").status == 0)
            let who = try await board.latchkey("whoami")
            #expect(who.status == 1 && who.output.contains("latchkey vault unlock"))
            #expect(try await board.latchkey("status").output.contains("locked with the store"))
            #expect(try await board.latchkey("doctor").output.contains("set and locked"))
            let figures = try await board.latchkey("metrics", "--prometheus").output
            #expect(figures.contains("latchkey_vault_passcode_locked 1"))
        }
    }

    @Test("a passcode is needed after a restart, and what is behind it is as it was once it is given")
    func restarted() async throws {
        try await withUser { _, board in
            try await give(board, ["passcode", "set"], Self.right)
            try await board.stop()
            try await board.start()
            _ = try await board.status { $0.isConnected }
            #expect(
                try await give(board, ["unlock"], "a wrong one", refusedBy: "vault.passcode-wrong")["numbers"] != nil)
            try await board.stop(SIGKILL)
            try await board.start()
            #expect(value(try await board.ask("vault", "status"), "passcode", "failures") as? Int == 1)
            try await unlock(board)
            #expect(try await board.latchkey("call", "GET", "/lab/hello").output.contains("Hello, alice"))
            let found = try await board.latchkey("storage", "find", "greeting", "--segment", "application-user")
            #expect(found.output == "hello")
            try await give(board, ["passcode", "set"], Self.right, "another good one", refusedBy: nil)
            try await board.ask("vault", "lock")
            try await give(board, ["unlock"], Self.right, refusedBy: "vault.passcode-wrong")
            try await unlock(board, "another good one")
            let rules = try await board.ask("vault", "passcode", "policy", "min_unique=2")
            #expect(value(rules, "policy", "min_unique") as? Int == 2)
            let off = try await board.ask("vault", "passcode", "off")
            #expect(value(off, "passcode", "state") as? String == "default")
            try await board.stop()
            try await board.start()
            #expect(try await board.latchkey("whoami").output.contains("alice"))
        }
    }

    @Test("the last wrong passcode erases what is of persons, and the board stays registered (SMP 32)")
    func wiped() async throws {
        try await withUser(Self.settings + "[passcode]\nretry_limit = 2\nmin_length = 4\n") { lab, board in
            let events = try board.follow("status", "--follow")
            _ = try await events.output.line(containing: "uptime")
            try await give(board, ["passcode", "set"], "2580")
            try await board.ask("vault", "lock")
            let policy = try await give(
                board, ["passcode", "policy", "retry_limit=0"], refusedBy: "vault.passcode-policy-in-settings")
            #expect(policy["remedy"] != nil)
            try await give(board, ["unlock"], "1111", refusedBy: "vault.passcode-wrong")
            _ = try await events.output.line(containing: "vault.passcode-refused")
            await #expect(throws: Unexpected.self) { try await unlock(board, "2222") }
            _ = try await events.output.line(containing: "vault.did-wipe")
            #expect(try await board.latchkey("whoami").output.contains("no user is logged in"))
            #expect(value(try await board.ask("vault", "status"), "passcode", "state") as? String == "none")
            #expect(try await board.status { $0.isConnected }.registration.state == "registered")
            try await UserBoard.logIn(board, as: "alice")
            let items = try await board.ask("storage", "list", "--segment", "application-user")
            #expect((items["items"] as? [Any])?.isEmpty == true)
        }
    }

    @Test("a passcode locks by itself after its time, unless a program keeps it open (SMP 33)")
    func timer() async throws {
        try await withUser(Self.settings + "[passcode]\nlock_timeout = 1\n") { _, board in
            let events = try board.follow("status", "--follow")
            _ = try await events.output.line(containing: "uptime")
            try await give(board, ["passcode", "set"], Self.right)
            let first = try await events.output.line(containing: "vault.did-lock")
            #expect(first.contains(#""reason":"time""#))
            let staying = try RunningProgram(
                URL(filePath: "/usr/bin/env"),
                [
                    "curl", "-sSN", "-m", "120", "--unix-socket", board.socket,
                    "http://localhost/v1/vault/foreground",
                ])
            _ = try await staying.output.line(containing: "open")
            try await unlock(board)
            let deadline = ContinuousClock.now + .seconds(3)
            while ContinuousClock.now < deadline {
                #expect(value(try await board.ask("vault", "status"), "passcode", "locked") as? Bool == false)
            }
            try await staying.stop(SIGKILL)
            _ = try await events.output.line(containing: "vault.did-unlock")
            _ = try await events.output.line(containing: "vault.did-lock")
        }
    }

    @Test("a session that its user has locked is not lost to an unlocking while the store is locked")
    func lockedSession() async throws {
        try await withUser { _, board in
            try await give(board, ["passcode", "set"], Self.right)
            #expect(try await board.latchkey("lock", input: "2580\n").status == 0)
            try await board.ask("vault", "lock")
            let refused = try await board.latchkey("unlock", input: "2580\n")
            #expect(refused.errors.contains("latchkey vault unlock"), "\(refused)")
            #expect(try await board.latchkey("whoami").output.contains("the session of alice is locked"))
            #expect(try await board.stop() == 0)
            try await board.start()
            try await unlock(board)
            #expect(try await board.latchkey("unlock", input: "2580\n").output == "unlocked; alice is logged in\n")
        }
    }

    @Test("a forgotten passcode is erased with what is behind it, by a command that asks (SMP 37)")
    func forgotten() async throws {
        try await withUser { _, board in
            try await give(board, ["passcode", "set"], Self.right)
            try await board.ask("vault", "lock")
            let unconfirmed = try await board.latchkey("vault", "forgotten", input: "")
            #expect(unconfirmed.status == 64)
            try await board.ask("vault", "forgotten", "--yes")
            #expect(try await board.latchkey("whoami").output.contains("no user is logged in"))
            try await give(board, ["unlock"], Self.right, refusedBy: "vault.no-compartment")
            try await UserBoard.logIn(board, as: "alice")
        }
    }

    @Test("an account at an OAuth server that a person logs in to is behind the passcode, and the board's own is not")
    func oauth() async throws {
        let servers = OAuthServerTests()
        try await servers.withServerAndBoard { server, board in
            try await servers.add(
                "person", at: server, client: "password-board", "--grant", "password", "--scope", "openid orders",
                secret: "password-secret", to: board)
            try await servers.add(
                "board", at: server, client: "own-board", "--grant", "client_credentials", "--scope", "orders offers",
                secret: "own-secret", to: board)
            let logIn = ["login", "--account", "person", "--user", "alice", "--password-stdin"]
            let result = try await Program(name: "latchkey").run(
                logIn + ["--socket", board.socket], input: "alice-password\n")
            #expect(result.status == 0, "\(result.errors)")
            _ = try await servers.token("person", of: board)
            try await give(board, ["passcode", "set"], Self.right)
            let before = try await servers.token("person", of: board)
            for restarts in [false, true] {
                if restarts {
                    try await board.stop()
                    try await board.start()
                } else {
                    try await board.ask("vault", "lock")
                }
                for command in [["token", "--account", "person"], ["logout", "--account", "person"], logIn] {
                    let refused = try await Program(name: "latchkey").run(
                        command + ["--socket", board.socket], input: "alice-password\n")
                    #expect(refused.errors.contains("latchkey vault unlock"), "\(command): \(refused)")
                }
                let who = try await board.latchkey("whoami", "--account", "person")
                #expect(who.output.contains("latchkey vault unlock"))
                _ = try await servers.token("board", of: board)
                try await unlock(board)
                #expect(try await servers.token("person", of: board) == before)
            }
        }
    }
}
