import Foundation
import GatewayLab
import Glibc
import TestSupport
import Testing

/// Grants of a board with accounts at several gateways.
extension ProxyTests {
    /// A board at the first lab, where nobody is logged in, and a second lab. Other users can reach its local API.
    private func withTwoLabs(
        _ settings: String = "", _ body: (_ first: Lab, _ second: Lab, TestBoard, ProxyCaller) async throws -> Void
    ) async throws {
        let second = try await Lab.start(CallBoard.lab)
        do {
            try await Self.withProxy(settings) { first, board, caller in
                chmod(board.socket, 0o666)
                chmod(board.folder.path, 0o755)
                #expect(try await board.latchkey("logout").status == 0)
                try await body(first, second, board, caller)
            }
        } catch {
            await second.stop()
            throw error
        }
        await second.stop()
    }

    /// curl, at the local API, as a user who may not operate.
    private func asking(_ path: String, _ board: TestBoard, _ more: String...) -> [String] {
        ProxyCaller.user(Self.games) + ["curl", "-sS", "-m", "120", "--unix-socket", board.socket] + more
            + ["http://localhost/v1/\(path)"]
    }

    private func answer(_ choice: String, to prompt: [String: Any], at board: TestBoard) async throws {
        let answered = try await board.latchkey("prompts", "answer", "\(prompt["id"] ?? 0)", "--choice", choice)
        #expect(answered.status == 0, "\(answered.errors)")
    }

    @Test("a question about another account names it")
    func accountInQuestion() async throws {
        try await withTwoLabs("[programs]\nask_seconds = 600\n") { _, second, board, _ in
            _ = try await board.enroll("--account", "plant2", try await second.mintEnrollmentURL())
            for (path, place) in [("accounts/plant2/token", " at the account plant2"), ("token", "")] {
                let running = try RunningProgram(
                    URL(filePath: "/usr/bin/env"), asking("\(path)?as=board&scope=email", board))
                let prompt = try await board.prompt()
                let text = try #require(prompt["text"] as? String)
                #expect(text.hasSuffix(" wants to have the access token\(place) as the board for email"), "\(text)")
                try await answer("never", to: prompt, at: board)
                _ = try await running.ended()
                #expect(running.output.text.contains("grants.refused"), "\(running.output.text)")
            }
        }
    }

    @Test("what was allowed at an account ends with it, and with its gateway")
    func endOfAccount() async throws {
        try await withTwoLabs { first, second, board, caller in
            func token(_ account: String) async throws -> String {
                try await Program.found.run(asking("accounts/\(account)/token", board)).output
            }
            func grants() async throws -> [String: [String]] {
                let list = try #require(try await board.ask("grants")["grants"] as? [[String: Any]])
                return Dictionary(
                    uniqueKeysWithValues: list.map { ($0["id"] as? String ?? "", $0["accounts"] as? [String] ?? []) })
            }
            _ = try await board.enroll("--account", "plant2", try await second.mintEnrollmentURL())
            _ = try await board.ask("grants", "allow", "--user", "games", "--account", "plant2", "--token")
            _ = try await board.ask(
                "grants", "allow", "--user", "games", "--account", "plant2", "--account", "gateway", "--path",
                "/lab/hello")
            _ = try await board.ask("grants", "allow", "--user", "daemon", "--account", "plant2", "--never")
            #expect(try await token("plant2").contains("accessToken"))
            // A new registration at the same gateway ends nothing.
            _ = try await board.ask("deregister", "--yes", "--account", "plant2")
            _ = try await board.enroll("--account", "plant2", try await second.mintEnrollmentURL())
            #expect(try await token("plant2").contains("accessToken"))

            _ = try await board.ask("deregister", "--yes", "--account", "plant2")
            _ = try await board.ask("accounts", "remove", "plant2")
            #expect(try await grants() == ["2": ["gateway"], "3": ["plant2"]])
            let records = try #require(try await board.ask("grants", "log")["records"] as? [[String: Any]])
            let ended = records.filter { $0["outcome"] as? String == "revoked" }
            #expect(ended.map { $0["grant"] as? String } == ["1", "2"])
            #expect(ended.allSatisfy { $0["account"] as? String == "plant2" && $0["by"] as? String == "agent" })
            try await board.stop(SIGKILL)
            try await board.start()
            chmod(board.socket, 0o666)
            _ = try await board.enroll("--account", "plant2", try await second.mintEnrollmentURL())
            #expect(try await token("plant2").contains("grants.missing"))

            _ = try await board.ask("deregister", "--yes", "--account", "plant2")
            _ = try await board.ask("accounts", "remove", "plant2")
            #expect(try await caller.status("/lab/hello", as: Self.games) == "200")
            // Accounts of other kinds leave nothing to a gateway's account of their name either.
            try await MPinBoard.add("door", at: first, to: board)
            _ = try await board.ask(
                "accounts", "add", "cloud", "--client-id", "board", "--grant", "device_code", "--authentication",
                "none",
                "--endpoint", "token_endpoint=https://localhost:9/token", "--endpoint",
                "device_authorization_endpoint=https://localhost:9/device")
            for name in ["door", "cloud"] {
                _ = try await board.ask("grants", "allow", "--user", "games", "--account", name, "--token")
            }
            #expect(try await grants() == ["2": ["gateway"], "3": ["plant2"], "4": ["door"], "5": ["cloud"]])
            _ = try await board.ask("mpin", "backend", "remove", "door", "--yes")
            _ = try await board.ask("accounts", "remove", "cloud")
            #expect(try await grants() == ["2": ["gateway"], "3": ["plant2"]])
            // The default account at another gateway.
            first.resetCounts()
            second.resetCounts()
            _ = try await board.enroll(at: second)
            #expect(try await grants() == ["3": ["plant2"]])
            #expect(try await caller.status("/lab/hello", as: Self.games) == "403")
            #expect(second.requestCounts[.hello] == nil && first.requestCounts[.hello] == nil)
        }
    }

    @Test("an answer is for the gateway that was asked about, and the call fails after a switch")
    func switchMeanwhile() async throws {
        try await withTwoLabs("[programs]\nask_seconds = 600\n") { first, second, board, caller in
            _ = try await board.enroll(at: second)
            let hello = #"{"method":"GET","path":"/lab/hello","as":"board"}"#
            let call = caller.command(["http://gateway/lab/hello"], as: Self.games)
            for (command, choice) in [
                (call, "once"), (call, "always"), (asking("token?as=board", board), "once"),
                (asking("call", board, "-d", hello), "once"), (asking("call/stream", board, "-d", hello), "always"),
            ] {
                let used = try await board.latchkey("gateway", "use", "localhost:\(first.port)")
                try #require(used.status == 0, "\(used.errors)")
                let running = try RunningProgram(URL(filePath: "/usr/bin/env"), command)
                let prompt = try await board.prompt()
                let switched = try await board.latchkey("gateway", "use", "localhost:\(second.port)")
                try #require(switched.status == 0, "\(switched.errors)")
                first.resetCounts()
                second.resetCounts()
                try await answer(choice, to: prompt, at: board)
                _ = try await running.ended()
                #expect(running.output.text.contains("grants.account-changed"), "\(running.output.text)")
                #expect(first.requestCounts[.hello] == nil && second.requestCounts[.hello] == nil)
                #expect((try await board.ask("grants")["grants"] as? [Any])?.isEmpty == true, "nothing is kept")
            }
        }
    }
}
