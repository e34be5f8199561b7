import Foundation
import GatewayLab
import Glibc
import TestSupport
import Testing

extension ProxyTests {
    @Test("a person is asked about a program that no grant names, and the answer holds once, always or never")
    func asked() async throws {
        try await Self.withProxy("[programs]\nask_seconds = 600\n") { lab, board, caller in
            func call(_ answer: String) async throws -> String {
                let command = caller.command(
                    ["-o", "/dev/null", "-w", "%{http_code}", "http://gateway/lab/hello"], as: Self.games)
                let running = try RunningProgram(URL(filePath: "/usr/bin/env"), command)
                let prompt = try await board.prompt()
                let text = try #require(prompt["text"] as? String)
                #expect(text.contains("user games, uid 5") && text.hasSuffix("wants to call gateway as alice"))
                #expect(prompt["choices"] as? [String] == ["once", "always", "never"])
                let answered = try await Program(name: "latchkey").run(
                    ["prompts", "answer", "\(prompt["id"] ?? 0)", "--socket", board.socket]
                        + (answer == "refuse" ? ["--refuse"] : ["--choice", answer]))
                #expect(answered.status == 0, "\(answered.errors)")
                _ = try await running.ended()
                return running.output.text
            }
            #expect(try await call("once") == "200")
            let records = try #require(try await board.ask("grants", "log")["records"] as? [[String: Any]])
            let once = records.first { $0["outcome"] as? String == "once" }
            #expect(once?["user"] as? String == "games" && (once?["by"] as? String)?.hasPrefix("user ") == true)
            #expect(try await call("refuse") == "403")
            #expect(try await call("always") == "200")
            // Nobody is asked again, also after a restart.
            #expect(try await caller.status("/lab/hello", as: Self.games) == "200")
            try await board.stop(SIGKILL)
            try await board.start()
            #expect(try await caller.status("/lab/hello", as: Self.games) == "200")
            #expect(try await board.latchkey("grants", "revoke", "1").status == 0)
            #expect(try await call("never") == "403")
            #expect(try await caller.status("/lab/hello", as: Self.games) == "403")
        }
    }

    /// Another user in place of alice.
    private func replaceUser(at board: TestBoard) async throws {
        #expect(try await board.latchkey("logout").status == 0)
        let logIn = try await board.latchkey("login", "--user", "bob", "--password-stdin", input: "bob-password\n")
        try #require(logIn.status == 0, "\(logIn.errors)")
    }

    @Test("an answer about one user never lets a program act as the user who logged in meanwhile")
    func otherUser() async throws {
        try await Self.withProxy("[programs]\nask_seconds = 600\n") { lab, board, caller in
            chmod(board.socket, 0o666)
            chmod(board.folder.path, 0o755)
            let token = ["curl", "-sS", "-m", "120", "--unix-socket", board.socket, "http://localhost/v1/token"]
            let call = caller.command(["http://gateway/lab/hello"], as: Self.games)
            for (command, answer) in [(call, "once"), (call, "always"), (ProxyCaller.user(Self.games) + token, "once")]
            {
                _ = try await board.latchkey("logout")
                let alice = try await board.latchkey(
                    "login", "--user", "alice", "--password-stdin", input: "alice-password\n")
                try #require(alice.status == 0, "\(alice.errors)")
                let running = try RunningProgram(URL(filePath: "/usr/bin/env"), command)
                let prompt = try await board.prompt()
                #expect((prompt["text"] as? String)?.hasSuffix(" as alice") == true)
                try await replaceUser(at: board)
                lab.resetCounts()
                let answered = try await board.latchkey(
                    "prompts", "answer", "\(prompt["id"] ?? 0)", "--choice", answer)
                #expect(answered.status == 0, "\(answered.errors)")
                _ = try await running.ended()
                #expect(running.output.text.contains("gateway.user-required"), "\(running.output.text)")
                #expect(lab.requestCounts[.hello] == nil)
                #expect((try await board.ask("grants")["grants"] as? [Any])?.isEmpty == true, "nothing is kept")
            }
        }
    }

    @Test("one answer for this once lets one request through, and the others are asked about")
    func once() async throws {
        try await Self.withProxy("[programs]\nask_seconds = 600\n") { lab, board, caller in
            let curl = caller.command(
                ["-v", "-o", "/dev/null", "-w", "%{http_code}", "http://gateway/lab/hello"], as: Self.games)
            var running: [RunningProgram] = []
            for _ in 1...3 { running.append(try RunningProgram(URL(filePath: "/usr/bin/env"), curl)) }
            // Sent, so that all wait for the first answer if the agent lets them.
            for program in running { _ = try await program.errors.line(containing: "> GET ") }
            lab.resetCounts()
            var seen: Set<Int> = []
            for answer in ["once", "once", "always"] {
                // The one before stays in the list for a moment.
                var id: Int?
                repeat { id = try await board.prompt()["id"] as? Int } while id.map(seen.contains) == true
                seen.insert(try #require(id))
                #expect((lab.requestCounts[.hello] ?? 0) < seen.count)
                let answered = try await board.latchkey("prompts", "answer", "\(id ?? 0)", "--choice", answer)
                #expect(answered.status == 0, "\(answered.errors)")
            }
            for program in running {
                _ = try await program.ended()
                #expect(program.output.text == "200")
            }
        }
    }

    @Test("a refusal of a program that is given while a person is asked outlasts the answer")
    func refusedMeanwhile() async throws {
        try await Self.withProxy("[programs]\nask_seconds = 600\n") { lab, board, caller in
            let command = caller.command(
                ["-o", "/dev/null", "-w", "%{http_code}", "http://gateway/lab/hello"], as: Self.games)
            let running = try RunningProgram(URL(filePath: "/usr/bin/env"), command)
            let prompt = try await board.prompt()
            _ = try await board.ask("grants", "allow", "--user", "games", "--never")
            let answered = try await board.latchkey("prompts", "answer", "\(prompt["id"] ?? 0)", "--choice", "once")
            #expect(answered.status == 0, "\(answered.errors)")
            _ = try await running.ended()
            #expect(running.output.text == "403")
        }
    }

    @Test("a person is told which scopes a program asks for, and is not asked for what could not be kept")
    func scopes() async throws {
        try await Self.withProxy("[programs]\nask_seconds = 600\n") { lab, board, _ in
            chmod(board.socket, 0o666)
            chmod(board.folder.path, 0o755)
            func token(_ scope: String) -> [String] {
                ProxyCaller.user(Self.games) + [
                    "curl", "-sS", "-m", "120", "--unix-socket", board.socket,
                    "http://localhost/v1/token?as=board&scope=\(scope)",
                ]
            }
            let quoted = try await Program.found.run(token("a%22b"))
            #expect(quoted.output.contains("a list of at most 32 scopes"), "\(quoted.output) \(quoted.errors)")
            let many = (1...32).map { "scope-number-\($0)" }.joined(separator: "%20")
            #expect(try await Program.found.run(token(many)).output.contains("grants.not-askable"))
            let running = try RunningProgram(URL(filePath: "/usr/bin/env"), token("orders%20admin"))
            let prompt = try await board.prompt()
            let text = try #require(prompt["text"] as? String)
            #expect(text.hasSuffix("wants to have the access token as the board for admin, orders"))
            _ = try await board.latchkey("prompts", "answer", "\(prompt["id"] ?? 0)", "--choice", "never")
            _ = try await running.ended()
            #expect(running.output.text.contains("grants.refused"))
            // It can be read again.
            try await board.stop(SIGKILL)
            try await board.start()
            let kept = try #require(try await board.ask("grants")["grants"] as? [[String: Any]])
            #expect(kept.map { $0["scopes"] as? [String] } == [["admin", "orders"]])
        }
    }

    @Test("programs of a unit are told apart by their control group", .enabled(if: ControlGroup.isUsable))
    func unit() async throws {
        try await Self.withProxy { lab, board, caller in
            _ = try await board.ask("grants", "allow", "--unit", "lk-sensors.service", "--path", "/lab/*")
            let group = try ControlGroup("system.slice/lk-sensors.service")
            defer { group.remove() }
            #expect(try await caller.status("/lab/hello", as: Self.games) == "403")
            let inside =
                ["sh", "-c", "echo $$ > \(group.processes) && exec \"$@\"", ""]
                + caller.command(["-o", "/dev/null", "-w", "%{http_code}", "http://gateway/lab/hello"], as: Self.games)
            #expect(try await Program.found.run(inside).output == "200")
            // Below a unit that was delegated the name of a unit proves nothing.
            let delegated = try ControlGroup("user.slice/user@5.service/lk-sensors.service")
            defer { delegated.remove() }
            let pretending = ["sh", "-c", "echo $$ > \(delegated.processes) && exec \"$@\"", ""] + inside.dropFirst(4)
            #expect(try await Program.found.run(Array(pretending)).output == "403")
        }
    }

    @Test("programs that act by grant never act as the user without single sign-on (MAG 12.1)")
    func privateSession() async throws {
        try await Self.withSocket { socket, settings in
            try await withLabAndBoard(CallBoard.lab, settings: settings) { lab, board in
                let caller = ProxyCaller(socket: socket, board: board)
                let file = board.folder.appending(path: "msso_config.json")
                let document = String(decoding: try await lab.configurationDocument(), as: UTF8.self)
                try #require(document.contains(/"sso_enabled"\s*:\s*true/))
                try document.replacing(/"sso_enabled"\s*:\s*true/, with: #""sso_enabled":false"#)
                    .write(to: file, atomically: true, encoding: .utf8)
                _ = try await board.enroll(file.path)
                let logIn = try await board.latchkey(
                    "login", "--user", "alice", "--password-stdin", input: "alice-password\n")
                try #require(logIn.status == 0, "\(logIn.errors)")
                _ = try await board.ask("grants", "allow", "--user", "games", "--as", "user", "--as", "board")
                #expect(try await caller.run("http://gateway/lab/hello").json["user"] as? String == "alice")
                let shared = try await caller.run("http://gateway/lab/hello", as: Self.games)
                #expect(try shared.json["user"] is NSNull, "\(shared.output)")
                _ = try await board.ask("grants", "revoke", "1")
                _ = try await board.ask("grants", "allow", "--user", "games", "--as", "user")
                let refused = try await caller.run("http://gateway/lab/hello", as: Self.games)
                #expect(refused.output.contains("grants.session-private"), "\(refused.output)")
            }
        }
    }
}
