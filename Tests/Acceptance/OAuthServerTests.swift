import Foundation
import TestSupport
import Testing

/// A board's accounts at glewlwyd, an OpenID Connect server of Debian that shares no code with this project.
@Suite("Accounts at an OAuth server", .serialized, .timeLimit(.minutes(15)))
struct OAuthServerTests {
    private static let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "glewlwyd.py")
    private static let python = URL(filePath: "/usr/bin/python3")

    /// The server, with a folder of its own.
    struct Server {
        let issuer: String
        let folder: URL

        /// What alice does in a browser.
        /// - Returns: where it ends.
        func agree(_ url: String) async throws -> String {
            try await OAuthServerTests.ask("agree", folder.path, url)
        }
    }

    static func ask(_ arguments: String...) async throws -> String {
        let result = try await Program(url: python).run(["-B", script.path] + arguments)
        guard result.status == 0 else { throw Unexpected("\(arguments): \(result.errors)") }
        return result.output.trimmingCharacters(in: .newlines)
    }

    /// Gives `body` a server and a board that is enrolled nowhere.
    func withServerAndBoard(
        settings: String = "", _ body: (Server, TestBoard) async throws -> Void
    ) async throws {
        let started = StartedPrograms()
        defer { started.endAll() }
        let board = try TestBoard(settings: "[telemetry]\nenabled = false\n" + settings)
        do {
            try await StartedPrograms.$here.withValue(started) {
                let folder = board.folder.appending(path: "server")
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                let process = try RunningProgram(Self.python, ["-B", Self.script.path, "serve", folder.path])
                let issuer = try await process.output.line(containing: "http://")
                try await board.start()
                try await body(Server(issuer: issuer, folder: folder), board)
            }
        } catch {
            let failure = board.withLastWords(error)
            try? await board.tearDown()
            throw failure
        }
        try await board.tearDown()
    }

    func add(
        _ name: String, at server: Server, client: String, _ arguments: String..., secret: String? = nil,
        to board: TestBoard
    ) async throws {
        let result = try await Program(name: "latchkey").run(
            [
                "accounts", "add", name, "--issuer", server.issuer, "--client-id", client, "--json", "--socket",
                board.socket,
            ]
                + arguments + (secret == nil ? [] : ["--secret-stdin"]), input: secret.map { $0 + "\n" })
        guard result.status == 0 else { throw Unexpected(result.errors) }
    }

    func token(_ account: String, of board: TestBoard) async throws -> String {
        try #require(try await board.ask("token", "--account", account)["accessToken"] as? String)
    }

    /// The claims of a token, which is a JWT at this server.
    func claims(_ token: String) throws -> [String: Any] {
        let part = token.split(separator: ".")[1].replacing("-", with: "+").replacing("_", with: "/")
        let data = Data(base64Encoded: part + String(repeating: "=", count: (4 - part.count % 4) % 4))
        let claims = try JSONSerialization.jsonObject(with: data ?? Data())
        return try #require(claims as? [String: Any])
    }

    @Test("an OAuth account logs in by a code on a screen, outlives a kill, calls, and ends (OAMMS checklist 98)")
    func deviceCode() async throws {
        try await withServerAndBoard { server, board in
            try await add(
                "cloud", at: server, client: "device-board", "--grant", "device_code", "--scope", "openid orders",
                "--resource", server.issuer, to: board)
            let none = try await board.latchkey("token", "--account", "cloud", "--json")
            #expect(none.errors.contains("oauth.login-required") && none.status == 78, "\(none)")
            let waiting = try await board.latchkey("accounts", "list").output
            #expect(waiting.contains("cloud  \(server.issuer), device_code, no user is logged in"), "\(waiting)")

            let login = try board.follow("login", "--account", "cloud")
            let line = try await login.output.line(containing: "device-code")
            let code = try JSONSerialization.jsonObject(with: Data(line.utf8))
            #expect((value(code, "data", "userCode") as? String)?.isEmpty == false)
            _ = try await server.agree(try #require(value(code, "data", "completeAddress") as? String))
            _ = try await login.output.line(containing: "logged-in")
            #expect(try await login.ended() == 0)

            let first = try await token("cloud", of: board)
            #expect(try claims(first)["scope"] as? String == "openid orders")
            #expect(try await board.ask("whoami", "--account", "cloud")["loggedIn"] as? Bool == true)
            let info = try await board.ask("whoami", "--info", "--account", "cloud")
            #expect(info["sub"] as? String == (try claims(first)["sub"] as? String))
            #expect(try await board.latchkey("call", "--account", "cloud", "GET", "/userinfo").status == 0)
            let elsewhere = try await board.latchkey(
                "call", "--json", "--account", "cloud", "GET", "https://elsewhere.example/")
            #expect(elsewhere.errors.contains("oauth.host-not-allowed"))

            try await board.stop(SIGKILL)
            #expect(try holds(first, board.state) == false)
            try await board.start()
            #expect(try await token("cloud", of: board) == first)
            #expect(try await board.latchkey("logout", "--account", "cloud").status == 0)
            let again = try await board.latchkey("logout", "--account", "cloud")
            #expect(again.status != 0 && again.errors.contains("no user is logged in at the account cloud"))
            #expect(try await board.latchkey("whoami", "--account", "cloud").status == 1)
            _ = try await board.ask("accounts", "remove", "cloud")
            #expect((try await board.ask("accounts", "list")["accounts"] as? [Any])?.isEmpty == true)
        }
    }

    /// Whether a file of a folder holds a text.
    private func holds(_ text: String, _ folder: URL) throws -> Bool {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path).contains { path in
            let data = try? Data(contentsOf: folder.appending(path: path))
            return data?.range(of: Data(text.utf8)) != nil
        }
    }

    @Test("an OAuth account logs in by a browser's code with PKCE, on a terminal and over the local API")
    func browser() async throws {
        try await withServerAndBoard { server, board in
            try await add("web", at: server, client: "code-board", "--scope", "openid orders", to: board)
            let program = try TerminalProgram(
                Program(name: "latchkey").url, ["login", "--account", "web", "--no-listen", "--socket", board.socket],
                columns: 1000)
            try await program.shows("Address: ")
            let url = try #require(program.screen.text.firstMatch(of: /http:\S+\/auth\?\S+/)?.output)
            program.type(try await server.agree(String(url)) + "\r")
            #expect(try await program.ended() == 0, "\(program.screen.text)")
            #expect(try claims(try await token("web", of: board))["client_id"] as? String == "code-board")

            try await add(
                "shown", at: server, client: "token-board", "--grant", "implicit", "--scope", "openid", to: board)
            let implicit = try TerminalProgram(
                Program(name: "latchkey").url, ["login", "--account", "shown", "--socket", board.socket], columns: 1000)
            try await implicit.shows("Address: ")
            let place = try #require(implicit.screen.text.firstMatch(of: /http:\S+\/auth\?\S+/)?.output)
            implicit.type(try await server.agree(String(place)) + "\r")
            #expect(try await implicit.ended() == 0, "\(implicit.screen.text)")
            #expect(try claims(try await token("shown", of: board))["client_id"] as? String == "token-board")
        }
    }

    @Test("an OAuth account is used by password, by the client's secret or key, and by a self-registered client")
    func clients() async throws {
        try await withServerAndBoard { server, board in
            try await add(
                "person", at: server, client: "password-board", "--grant", "password", "--scope", "openid orders",
                secret: "password-secret", to: board)
            let wrong = try await board.latchkey(
                "login", "--account", "person", "--user", "alice", "--json", input: "wrong-password\n")
            #expect(wrong.status != 0 && !wrong.errors.contains("wrong-password"), "\(wrong.errors)")
            let right = try await board.latchkey(
                "login", "--account", "person", "--user", "alice", input: "alice-password\n")
            #expect(right.status == 0 && right.output.contains("logged in as alice"), "\(right)")
            // The same user may have a token of another scope beside it.
            let more = try await board.latchkey(
                "login", "--account", "person", "--user", "alice", "--scope", "offers", input: "alice-password\n")
            #expect(more.status == 0, "\(more)")
            for scope in ["openid", "orders", "offers"] {
                #expect(try await board.latchkey("token", "--account", "person", "--scope", scope).status == 0)
            }
            let both = try await board.latchkey("token", "--account", "person", "--scope", "orders offers", "--json")
            #expect(both.errors.contains("oauth.login-required"), "\(both.errors)")

            try await add(
                "own", at: server, client: "own-board", "--grant", "client_credentials", "--scope", "orders offers",
                secret: "own-secret", to: board)
            let narrow = try await board.ask("token", "--account", "own", "--scope", "orders")
            #expect(narrow["scope"] as? String == "orders")
            let wide = try await token("own", of: board)
            #expect(
                try await board.ask("token", "--account", "own", "--scope", "offers")["accessToken"] as? String == wide)
            #expect(try await board.ask("accounts", "introspect", "own")["active"] as? Bool == true)
            let login = try await board.latchkey("login", "--account", "own")
            #expect(login.output == "this account needs no login; it has a token for offers orders\n", "\(login)")

            try await add(
                "key", at: server, client: "key-board", "--grant", "client_credentials", "--scope", "orders",
                "--authentication", "private_key_jwt", "--audience", server.issuer + "/token", to: board)
            let key = try #require(value(try await board.ask("accounts", "show", "key"), "server", "publicKey"))
            let keys = try JSONSerialization.data(withJSONObject: ["jwks": ["keys": [key]]])
            _ = try await Self.ask("client", server.folder.path, "key-board", String(decoding: keys, as: UTF8.self))
            #expect(try claims(try await token("key", of: board))["client_id"] as? String == "key-board")

            let made = try await board.latchkey(
                "accounts", "add", "self", "--issuer", server.issuer, "--register", "--grant", "client_credentials",
                "--scope", "orders", "--authentication", "client_secret_basic")
            #expect(made.status == 0, "\(made.errors)")
            let before = try await board.ask("accounts", "show", "self")
            #expect((value(before, "server", "clientID") as? String)?.isEmpty == false)
            _ = try await token("self", of: board)
            _ = try await board.ask("accounts", "remove", "self")
            let names = (try await board.ask("accounts", "list")["accounts"] as? [[String: Any]])?.map {
                $0["name"] as? String
            }
            #expect(names == ["key", "own", "person"])
            let log = try #require(board.daemon?.errors.text)
            for secret in ["own-secret", "password-secret", "alice-password", wide] {
                #expect(!log.contains(secret), "the log holds a secret")
            }
        }
    }

    @Test("a thousand requests of local programs for a token cause one request to the OAuth server")
    func manyPrograms() async throws {
        try await withServerAndBoard { server, board in
            try await add(
                "own", at: server, client: "own-board", "--grant", "client_credentials", "--scope", "orders",
                secret: "own-secret", to: board)
            // As many requests at a time as one user may have; each asks again and again.
            let asking = """
                import concurrent.futures, http.client, json, socket, sys
                class Board(http.client.HTTPConnection):
                    def connect(self):
                        self.sock = socket.socket(socket.AF_UNIX)
                        self.sock.connect(sys.argv[1])
                def some(_):
                    board = Board("localhost")
                    tokens = set()
                    for _ in range(100):
                        board.request("GET", "/v1/accounts/own/token")
                        answer = board.getresponse()
                        assert answer.status == 200, answer.status
                        tokens.add(json.loads(answer.read())["accessToken"])
                    return tokens
                with concurrent.futures.ThreadPoolExecutor(10) as pool:
                    print(len(set().union(*pool.map(some, range(10)))))
                """
            let result = try await Program(url: Self.python).run(["-c", asking, board.socket])
            #expect(result.status == 0 && result.output == "1\n", "\(result)")
        }
    }

    @Test("an OAuth account is refused for a name that is taken, another issuer, or an incomplete description")
    func refused() async throws {
        try await withServerAndBoard { server, board in
            func refusal(_ arguments: String...) async throws -> String? {
                let result = try await Program(name: "latchkey").run(
                    ["accounts", "add"] + arguments + ["--client-id", "own-board", "--json", "--socket", board.socket])
                return value(try JSONSerialization.jsonObject(with: Data(result.errors.utf8)), "error", "code")
                    as? String
            }
            try await add("web", at: server, client: "code-board", to: board)
            #expect(try await refusal("web", "--issuer", server.issuer) == "account.exists")
            #expect(try await refusal("gateway", "--issuer", server.issuer) == "account.exists")
            #expect(try await refusal("b", "--issuer", server.issuer + "/") == "oauth.issuer-wrong")
            #expect(try await refusal("b", "--issuer", "http://id.example") == "oauth.configuration-invalid")
            #expect(try await refusal("b", "--grant", "client_credentials") == "oauth.configuration-invalid")
            #expect(try await refusal("b", "--issuer", server.issuer, "--grant", "magic") == "local-api.bad-request")
            let enrolled = try await board.latchkey("renew", "--account", "web", "--json")
            #expect(enrolled.errors.contains("account.other-kind"), "\(enrolled.errors)")
            #expect(try await board.latchkey("login", "--account", "nobody").status == 1)
        }
    }
}
