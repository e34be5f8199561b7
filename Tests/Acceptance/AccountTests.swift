import Foundation
import GatewayLab
import TestSupport
import Testing

/// A board that is registered at two gateways at the same time, each under a name of its own.
@Suite("Accounts", .serialized, .timeLimit(.minutes(15)))
struct AccountTests {
    /// A board at the first lab, and with the account `plant2` at the second.
    private func withTwoAccounts(_ body: (_ first: Lab, _ second: Lab, TestBoard) async throws -> Void) async throws {
        let second = try await Lab.start()
        do {
            try await withLabAndBoard { first, board in
                _ = try await board.enroll(at: first)
                _ = try await board.status { $0.isConnected }
                _ = try await board.enroll("--account", "plant2", try await second.mintEnrollmentURL())
                try await body(first, second, board)
            }
        } catch {
            await second.stop()
            throw error
        }
        await second.stop()
    }

    private func logIn(_ board: TestBoard, as user: String, _ account: String...) async throws {
        let arguments = ["login", "--user", user, "--password-stdin", "--socket", board.socket] + account
        let result = try await Program(name: "latchkey").run(arguments, input: "\(user)-password\n")
        guard result.status == 0 else { throw Unexpected(result.errors) }
    }

    private func token(_ board: TestBoard, _ account: [String] = []) async throws -> String {
        let result = try await Program(name: "latchkey").run(["token", "--socket", board.socket] + account)
        guard result.status == 0 else { throw Unexpected(result.errors) }
        return result.output
    }

    /// An account in the status of a board.
    private func account(_ name: String, of board: TestBoard) async throws -> BoardStatus.Account {
        try #require(try await board.status().accounts?.first { $0.name == name })
    }

    /// What the error of a refused subcommand is called.
    private func refusal(_ board: TestBoard, _ arguments: String...) async throws -> (code: String?, status: Int32) {
        let result = try await Program(name: "latchkey").run(arguments + ["--json", "--socket", board.socket])
        let error = try JSONSerialization.jsonObject(with: Data(result.errors.utf8))
        return (value(error, "error", "code") as? String, result.status)
    }

    @Test("a second account has registration, tokens, user and calls of its own, and both outlive a kill")
    func two() async throws {
        try await withTwoAccounts { first, second, board in
            let mine = try await account("gateway", of: board)
            let other = try await account("plant2", of: board)
            #expect(mine.isDefault && mine.usesBroker && !other.isDefault && !other.usesBroker)
            #expect(mine.registration.magIdentifier == (await first.devices().map(\.magIdentifier).first))
            #expect(other.registration.magIdentifier == (await second.devices().map(\.magIdentifier).first))
            #expect(mine.registration.deviceID != other.registration.deviceID)
            // What the status said before there were accounts, it says of the default one.
            let status = try await board.status()
            #expect(status.registration.magIdentifier == mine.registration.magIdentifier)
            #expect(status.gateway?.url == mine.gateway.url && status.otherGateways == nil)
            #expect(status.isConnected && status.lastError == nil)

            let tokens = [try await token(board), try await token(board, ["--account", "plant2"])]
            #expect(tokens[0] != tokens[1])
            #expect(try await token(board, ["--account", "gateway"]) == tokens[0])
            try await logIn(board, as: "alice")
            try await logIn(board, as: "bob", "--account", "plant2")
            #expect(try await board.ask("whoami")["userName"] as? String == "alice")
            #expect(try await board.ask("whoami", "--account", "plant2")["userName"] as? String == "bob")
            #expect(await first.loggedIn().values.joined().contains("alice"))
            #expect(await second.loggedIn().values.joined().contains("bob"))
            #expect(try await board.latchkey("call", "GET", "/lab/hello").status == 0)
            #expect(try await board.latchkey("call", "--account", "plant2", "GET", "/lab/hello").status == 0)

            let shown = try await board.latchkey("status").output
            #expect(shown.contains("plant2: \(other.gateway.url), registered, user bob"), "\(shown)")
            let one = try await board.latchkey("status", "--account", "plant2").output
            #expect(one.contains(other.registration.magIdentifier ?? "none") && one.contains("bob"), "\(one)")

            try await board.stop(SIGKILL)
            first.resetCounts()
            second.resetCounts()
            try await board.start()
            _ = try await board.status { $0.isConnected }
            let list = try await board.ask("accounts", "list")["accounts"] as? [[String: Any]]
            #expect(list?.compactMap { $0["name"] as? String } == ["gateway", "plant2"])
            #expect(
                try await account("plant2", of: board).registration.magIdentifier == other.registration.magIdentifier)
            #expect(try await board.ask("whoami", "--account", "plant2")["userName"] as? String == "bob")
            #expect(try await board.ask("whoami")["userName"] as? String == "alice")
            #expect(try await board.latchkey("call", "--account", "plant2", "GET", "/lab/hello").status == 0)
            for lab in [first, second] {
                #expect(
                    lab.requestCounts[.token, default: 0] == 0
                        && lab.requestCounts[.clientRegistration, default: 0] == 0)
            }

            #expect(try await board.latchkey("logout", "--account", "plant2").status == 0)
            #expect(try await board.latchkey("whoami", "--account", "plant2").status == 1)
            #expect(try await board.ask("whoami")["userName"] as? String == "alice")
        }
    }

    @Test("accounts are renewed, deregistered and removed one by one, and events carry the account's name")
    func endOfOne() async throws {
        try await withTwoAccounts { first, second, board in
            let events = try board.follow("status", "--follow")
            _ = try await events.output.line(containing: "uptime")
            let serials = [
                await first.devices().first?.certificateSerial, await second.devices().first?.certificateSerial,
            ]
            _ = try await board.ask("renew", "--account", "plant2")
            #expect(await first.devices().first?.certificateSerial == serials[0])
            #expect(await second.devices().first?.certificateSerial != serials[1])
            let renewed = try await events.output.line(containing: "gateway.device-did-renew")
            #expect(renewed.contains(#""account":"plant2""#))
            try await events.stop(SIGKILL)

            let kept = try await refusal(board, "accounts", "remove", "plant2")
            #expect(kept.code == "account.registered" && kept.status == 1)
            _ = try await board.ask("deregister", "--yes", "--account", "plant2")
            #expect(await second.devices().filter { $0.status == .active }.isEmpty)
            #expect(try await account("plant2", of: board).registration.state == "unregistered")
            _ = try await board.ask("accounts", "remove", "plant2")
            let gone = try await refusal(board, "token", "--account", "plant2")
            #expect(gone.code == "account.unknown" && gone.status == 1)
            #expect(try await board.status().accounts?.map(\.name) == ["gateway"])
            #expect(await first.devices().filter { $0.status == .active }.count == 1)
            #expect(try await board.latchkey("call", "GET", "/lab/hello").status == 0)

            // It can be made again, and stays when the default one goes.
            _ = try await board.enroll("--account", "plant2", try await second.mintEnrollmentURL())
            _ = try await board.ask("deregister", "--yes")
            #expect(try await board.status().registration.state == "unregistered")
            #expect(try await board.latchkey("call", "--account", "plant2", "GET", "/lab/hello").status == 0)
            try await board.stop()
            try await board.start()
            #expect(try await account("plant2", of: board).registration.state == "registered")
            #expect(try await board.latchkey("call", "--account", "plant2", "GET", "/lab/hello").status == 0)
        }
    }

    @Test("accounts take turns at the broker by the settings")
    func broker() async throws {
        try await withTwoAccounts { first, second, board in
            _ = try await board.ask("publish", "counter", "one")
            _ = try await board.status { $0.outbox?.depth == 0 }
            try await board.stop()
            let settings = try String(contentsOf: board.configuration, encoding: .utf8)
            try (settings + "\n[broker]\naccount = \"plant2\"\n").write(
                to: board.configuration, atomically: true, encoding: .utf8)
            try await board.start()
            _ = try await board.status { $0.isConnected }
            #expect(try await account("plant2", of: board).usesBroker)
            await second.stopBroker(abruptly: true)
            _ = try await board.status { !$0.isConnected && $0.lastError != nil }
            #expect(value(try await board.ask("status"), "lastError", "account") as? String == "plant2")
            try await second.startBroker()
            _ = try await board.status { $0.isConnected && $0.lastError == nil }
            _ = try await board.ask("publish", "counter", "two")
            _ = try await board.status { $0.outbox?.depth == 0 }
            func counted(at lab: Lab) -> [String] {
                lab.messages.filter { $0.topic.hasSuffix("/custom/counter") }
                    .map { String(decoding: $0.payload, as: UTF8.self) }
            }
            #expect(counted(at: first) == ["one"])
            #expect(counted(at: second) == ["two"])
            #expect(try await board.latchkey("call", "GET", "/lab/hello").status == 0)
            // Without it there is nobody to send to, and the first does not step in.
            _ = try await board.ask("deregister", "--yes", "--account", "plant2")
            func outboxes() throws -> Int {
                try FileManager.default.contentsOfDirectory(atPath: board.state.path)
                    .filter { $0.hasPrefix("outbox-") && $0.hasSuffix(".db") }.count
            }
            #expect(try outboxes() == 2)
            _ = try await board.ask("accounts", "remove", "plant2")
            #expect(try outboxes() == 1)
            #expect(try await refusal(board, "publish", "counter", "three").code == "account.unknown")
            let status = try await board.status()
            #expect(status.registration.state == "registered")
            #expect((status.warnings ?? []).contains { $0.contains("broker.account names plant2") })
            // What waited for the first's turn goes with its identity.
            _ = try await board.ask("reset", "--yes")
            #expect(try outboxes() == 0)
        }
    }

    @Test("commands that name no account use the chosen one, across a kill; programs do not")
    func use() async throws {
        try await withTwoAccounts { first, second, board in
            let tokens = [try await token(board), try await token(board, ["--account", "plant2"])]
            #expect(try await board.latchkey("accounts", "current").output == "gateway\n")
            let chosen = try await board.ask("accounts", "use", "plant2")
            #expect(chosen["account"] as? String == "plant2" && chosen["former"] as? String == "gateway")
            #expect(try await board.ask("accounts", "current")["account"] as? String == "plant2")
            #expect(try await token(board) == tokens[1])
            #expect(try await token(board, ["--account", "gateway"]) == tokens[0])
            try await logIn(board, as: "bob")
            #expect(await second.loggedIn().values.joined().contains("bob"))
            #expect(await first.loggedIn().values.joined().isEmpty)
            #expect(try await board.ask("whoami", "--account", "plant2")["userName"] as? String == "bob")
            #expect(try await board.latchkey("wait", "--for", "user-logged-in", "--timeout", "30").status == 0)
            let serial = await second.devices().first?.certificateSerial
            #expect(try await board.latchkey("renew").status == 0)
            #expect(await second.devices().first?.certificateSerial != serial)
            let shown = try await board.latchkey("accounts", "list").output.split(separator: "\n")
            #expect(shown.map { $0.hasSuffix("in use by commands") } == [false, true], "\(shown)")

            // In the environment, for all commands of a script.
            let environment = ["LATCHKEY_ACCOUNT": "gateway", "LATCHKEY_SOCKET": board.socket]
            let program = Program(name: "latchkey")
            #expect(try await program.run(["token"], environment: environment).output == tokens[0])
            let used = try await program.run(["accounts", "use", "plant2"], environment: environment)
            #expect(used.errors.contains("LATCHKEY_ACCOUNT is set here"), "\(used.errors)")
            let invalid = try await program.run(["token"], environment: ["LATCHKEY_ACCOUNT": "Plant 2"])
            #expect(invalid.status == 64 && invalid.errors.contains("the name of an account"), "\(invalid.errors)")
            let offered = try await program.run(
                ["---completion", "accounts", "use", "--", "positional@0", "0", "0"], environment: environment)
            #expect(offered.output == "gateway\nplant2\n", "\(offered.output) \(offered.errors)")

            // What runs goes on as before: programs, messages, the status of the board.
            let direct = try await Program.found.run([
                "curl", "--silent", "--unix-socket", board.socket, "http://localhost/v1/token",
            ])
            #expect((try direct.json["accessToken"] as? String).map { $0 + "\n" } == tokens[0])
            let mine = try await account("gateway", of: board).registration.deviceID
            #expect(try await board.status().registration.deviceID == mine)
            #expect(try await account("gateway", of: board).usesBroker)

            try await board.stop(SIGKILL)
            try await board.start()
            _ = try await board.status { $0.isConnected }
            #expect(try await board.ask("whoami")["userName"] as? String == "bob")

            // Not the one that commands would mean next.
            #expect(try await board.latchkey("deregister", "--yes").status == 0)
            #expect(await second.devices().filter { $0.status == .active }.isEmpty)
            #expect(await first.devices().filter { $0.status == .active }.count == 1)
            let kept = try await refusal(board, "accounts", "remove", "plant2")
            #expect(kept.code == "account.current" && kept.status == 1)
            #expect(try await refusal(board, "accounts", "use", "plant3").code == "account.unknown")
            _ = try await board.ask("accounts", "use", "gateway")
            _ = try await board.ask("accounts", "remove", "plant2")
            #expect(try await board.latchkey("call", "GET", "/lab/hello").status == 0)
        }
    }

    @Test("accounts are refused where two would be at one gateway, and by names that there are not")
    func refused() async throws {
        try await withTwoAccounts { first, second, board in
            let url = try await first.mintEnrollmentURL()
            for lab in [first, second] { lab.resetCounts() }
            let same = try await refusal(board, "enroll", "--account", "other", url)
            #expect(same.code == "account.same-gateway" && same.status == 1)
            let switched = try await refusal(board, "enroll", try await second.mintEnrollmentURL())
            #expect(switched.code == "account.same-gateway")
            for lab in [first, second] { #expect(lab.requestCounts[.enrollment, default: 0] == 0) }
            // The URL was not spent.
            _ = try await board.enroll(url)
            #expect(try await refusal(board, "token", "--account", "other").code == "account.unknown")
            #expect(try await refusal(board, "token", "--account", "Other").code == "usage.invalid")
            #expect(try await refusal(board, "login", "--qr", "--account", "plant2").code == "usage.invalid")
            #expect(try await board.status().accounts?.map(\.name) == ["gateway", "plant2"])
            #expect(try await board.status().isConnected)
        }
    }
}
