import Foundation
import GatewayLab
import TestSupport
import Testing

/// The console: the page of the board, as a person opens it in a browser. `console.py` is that person.
@Suite("The console", .serialized, .timeLimit(.minutes(15)))
struct ConsoleTests {
    private static let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "console.py").path
    // A person on a slow machine has longer to consent, and to log in by a phone.
    private static let enabled =
        "[proximity]\nconsent_seconds = 110\n[login]\npoll_limit = 60\n[console]\nenabled = true\n"

    private func person(_ board: TestBoard, _ arguments: String...) async throws -> RunningProgram {
        let address = try #require(try await board.ask("console")["address"] as? String)
        return try RunningProgram(URL(filePath: "/usr/bin/python3"), ["-B", Self.script, address] + arguments)
    }

    private func expectWell(_ person: RunningProgram) async throws {
        let status = try await person.ended(within: 600)
        #expect(status == 0, "\(person.errors.text)")
    }

    /// How many threads of the daemon have served requests and still can.
    private func servers(of board: TestBoard) throws -> Int {
        let tasks = "/proc/\(try #require(board.daemon?.processIdentifier))/task"
        return try FileManager.default.contentsOfDirectory(atPath: tasks).count { task in
            (try? String(contentsOfFile: "\(tasks)/\(task)/comm", encoding: .utf8)) == "local-api\n"
        }
    }

    @Test("a person answers a log-in and a consent on the console's page, logs in, and logs out there")
    func people() async throws {
        try await withLabAndBoard(settings: Self.enabled) { lab, board in
            _ = try await board.enroll(at: lab)
            _ = try await board.status { $0.isConnected }
            let command = try TerminalProgram(
                Program(name: "latchkey").url, ["login", "--user", "alice", "--socket", board.socket])
            try await command.shows("Password of alice")
            let person = try await person(board, "people")
            #expect(try await command.ended() == 0)
            #expect(
                command.screen.text.contains("2 attempts left") && command.screen.text.contains("logged in as alice"))
            #expect(try await board.ask("whoami")["userName"] as? String == "alice")
            _ = try await person.output.line(containing: "logged in")

            // The page is looked at before it is answered, which takes a browser on a busy machine a while.
            let other = try TestBoard(settings: "[login]\npoll_limit = 60")
            do {
                try await other.start()
                _ = try await other.enroll("--no-register", try await lab.mintEnrollmentURL())
                let showing = try other.follow("login", "--qr")
                let code = try await showing.output.line(containing: #""event":"qr-code""#)
                let event = try JSONSerialization.jsonObject(with: Data(code.utf8))
                let url = try #require(value(event, "data", "text") as? String)
                let letting = try board.follow("authorize", url, "--name", "the other board")
                #expect(try await letting.ended() == 0)
                #expect(try await showing.ended() == 0)
                #expect(try await other.ask("whoami")["userName"] as? String == "alice")
            } catch {
                try? await other.tearDown()
                throw Unexpected("\(error); the page: \(person.errors.text)")
            }
            try await other.tearDown()
            try await expectWell(person)
            let log = try #require(board.daemon?.errors.text)
            #expect(!log.contains("alice-password") && !log.contains("not-hers"))
        }
    }

    @Test("the console's page fits 360 to 1920 pixels, is legible, and works with keyboard and screen reader")
    func look() async throws {
        try await withLabAndBoard(settings: Self.enabled) { lab, board in
            _ = try await board.enroll(at: lab)
            let logIn = try await board.latchkey(
                "login", "--user", "alice", "--password-stdin", input: "alice-password\n")
            #expect(logIn.status == 0)
            let url = "\(lab.baseURL)/auth/device/authorization/0123456789abcdef0123456789abcdef"
            // Each is asked again if a slow machine takes longer than people may.
            let consent = try board.follow("authorize", url, "--name", "A phone with a rather long name")
            let command = try TerminalProgram(
                Program(name: "latchkey").url, ["login", "--user", "bob", "--socket", board.socket])
            try await command.shows("Password of bob")
            let folder = ProcessInfo.processInfo.environment["LATCHKEY_PICTURES"] ?? board.folder.path
            try await expectWell(try await person(board, "look", folder))
            for width in [360, 768, 1920] {
                for scheme in ["light", "dark"] {
                    #expect(FileManager.default.fileExists(atPath: "\(folder)/console-\(width)-\(scheme).png"))
                }
            }
            command.type(TerminalProgram.control.c)
            _ = try await command.ended()
            try await consent.stop(SIGKILL)
        }
    }

    @Test("a person logs in from the console: in another tab, on a phone, or by an address that is entered")
    func ways() async throws {
        var configuration = LabConfiguration()
        configuration.broker = false
        configuration.masterClients[0].redirectURI = "http://127.0.0.1/done"
        try await withLabAndBoard(configuration, settings: Self.enabled) { lab, board in
            _ = try await board.enroll(at: lab)
            let folder = ProcessInfo.processInfo.environment["LATCHKEY_PICTURES"] ?? board.folder.path
            try await expectWell(try await person(board, "ways", folder))
            let log = try #require(board.daemon?.errors)
            _ = try await log.line(containing: "gateway.authorization-did-fail")
            #expect(!log.text.contains("-password"))
        }
    }

    @Test("a person logs in at an OAuth server's account from the console: by code, in a tab, by password")
    func oauth() async throws {
        try await OAuthServerTests().withServerAndBoard(settings: Self.enabled) { server, board in
            let accounts = OAuthServerTests()
            try await accounts.add(
                "cloud", at: server, client: "device-board", "--grant", "device_code", "--scope", "openid", to: board)
            try await accounts.add("web", at: server, client: "code-board", "--scope", "openid", to: board)
            try await accounts.add(
                "secret", at: server, client: "password-board", "--grant", "password", "--scope", "openid",
                secret: "password-secret", to: board)
            try await accounts.add(
                "own", at: server, client: "own-board", "--grant", "client_credentials", "--scope", "orders",
                secret: "own-secret", to: board)
            let folder = ProcessInfo.processInfo.environment["LATCHKEY_PICTURES"] ?? board.folder.path
            try await expectWell(try await person(board, "oauth", server.folder.path, folder))
            for account in ["cloud", "web", "secret"] {
                #expect(try await board.latchkey("whoami", "--account", account).status == 0)
            }
        }
    }

    @Test("the console's address works once; its session outlives a reload and ends with its listener")
    func lock() async throws {
        try await withLabAndBoard(settings: Self.enabled) { _, board in
            let text = try await board.latchkey("console")
            #expect(text.output.contains("http://127.0.0.1:") && text.output.contains("ssh -N -L"))
            #expect(try await board.latchkey("console", "--list").output.contains("offered"))
            try await expectWell(try await person(board, "lock"))
            // The first address is still offered.
            #expect(try servers(of: board) == 2)
            #expect(try await board.ask("console", "--end")["ended"] as? Int == 1)
            while try servers(of: board) == 2, !Task.isCancelled { await Task.yield() }
            #expect(try await board.latchkey("console", "--list").output == "no console sessions\n")
        }
    }

    @Test("the console's page says which board it is of, and that it is out of date when the agent is gone")
    func gone() async throws {
        try await withLabAndBoard(settings: Self.enabled) { _, board in
            let person = try await person(board, "gone")
            _ = try await person.output.line(containing: "shown")
            try await board.stop(SIGKILL)
            try await expectWell(person)
        }
    }

    @Test("there is no console page without the setting, and with it none until somebody asks")
    func off() async throws {
        try await withLabAndBoard { _, board in
            let refused = try await board.latchkey("console", "--json")
            #expect(refused.status == 1 && refused.errors.contains("local-api.console-off"))
            #expect(try await board.ask("console", "--list")["enabled"] as? Bool == false)
            #expect(try servers(of: board) == 1)
        }
    }

    @Test(
        "the console's page of another user has that user's rights and no more",
        .enabled(if: getuid() == 0, "asks as another user"))
    func rights() async throws {
        let board = try TestBoard(settings: Self.enabled)
        try String(contentsOf: board.configuration, encoding: .utf8)
            .replacingOccurrences(of: "[api]\n", with: "[api]\ngroup = \"nogroup\"\nread = [\"games\"]\n")
            .write(to: board.configuration, atomically: true, encoding: .utf8)
        // Others have to reach the socket in it.
        chmod(board.folder.path, 0o755)
        try await withLabAndBoard(board: board) { lab, board in
            _ = try await board.enroll(at: lab)
            let command = try TerminalProgram(
                Program(name: "latchkey").url, ["login", "--user", "alice", "--socket", board.socket])
            try await command.shows("Password of alice")
            func ask(as user: String) async throws -> String {
                let asking = try RunningProgram(
                    URL(filePath: "/usr/bin/setpriv"),
                    [
                        "--reuid=\(user)", "--regid=nogroup", "--clear-groups", "curl", "-sS", "-m", "150",
                        "--data-binary", "{}", "--unix-socket", board.socket, "http://localhost/v1/console",
                    ])
                #expect(try await asking.ended() == 0)
                return asking.output.text
            }
            #expect(try await ask(as: "nobody").contains("local-api.access-denied"))
            let offer = try JSONSerialization.jsonObject(with: Data(try await ask(as: "games").utf8))
            let address = try #require(value(offer, "address") as? String)
            let person = try RunningProgram(
                URL(filePath: "/usr/bin/python3"), ["-B", Self.script, address, "rights"])
            try await expectWell(person)
            // Nobody sees or ends another user's session but an owner.
            #expect(try await board.latchkey("console", "--list").output.contains("games  open"))
            command.type(TerminalProgram.control.c)
            _ = try await command.ended()
        }
    }

    @Test("a style sheet and title of the settings change the console; a file that cannot be read is named")
    func branding() async throws {
        let style = FileManager.default.temporaryDirectory.appending(path: "own-\(UUID()).css")
        defer { try? FileManager.default.removeItem(at: style) }
        let settings = Self.enabled + "title = \"Pump <7>\"\nstyle_sheet = \"\(style.path)\"\n"
        try await withLabAndBoard(settings: settings) { _, board in
            let missing = try await board.latchkey("console", "--json")
            #expect(missing.status == 78 && missing.errors.contains(style.path))
            try ":root { --accent: #123456; }".write(to: style, atomically: true, encoding: .utf8)
            let address = try #require(try await board.ask("console")["address"] as? String)
            let base = try #require(address.split(separator: "#").first)
            for (file, text) in [("", "<h1 id=\"title\">Pump &lt;7></h1>"), ("own.css", "--accent: #123456")] {
                let curl = try RunningProgram(URL(filePath: "/usr/bin/curl"), ["-sS", "-m", "150", "\(base)\(file)"])
                #expect(try await curl.ended() == 0)
                #expect(curl.output.text.contains(text))
            }
        }
    }

    @Test("the agent's last log entries can be read and followed in the console")
    func logs() async throws {
        try await withLabAndBoard { lab, board in
            let following = try board.follow("logs", "--follow")
            _ = try await following.output.line(containing: "ready")
            _ = try await board.enroll(at: lab)
            _ = try await following.output.line(containing: "gateway.device-did-register")
            try await following.stop(SIGKILL)
            #expect(try await board.latchkey("logs").output.contains("gateway.device-did-register"))
            let entries = try #require(try await board.ask("logs")["entries"] as? [[String: Any]])
            #expect(entries.allSatisfy { $0["service"] as? String == "agent" })
        }
    }
}
