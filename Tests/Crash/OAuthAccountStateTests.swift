import Foundation
import FoundationNetworking
import TestSupport
import Testing

/// Each row is a `killPoint` of the accounts at OAuth servers; the server counts what it is asked.
@Suite("Killed while an account at an OAuth server changes", .timeLimit(.minutes(15)))
struct OAuthAccountStateTests {
    static let states: Set<String> = [
        "oauth-account-answered", "oauth-login-answered", "oauth-refresh-answered", "oauth-refresh-committed",
        "oauth-removal-begun",
    ]

    private struct Scene {
        let board: TestBoard
        let base: String

        func control() async throws -> [String: Any] {
            let (data, _) = try await URLSession.shared.data(from: try #require(URL(string: base + "/control")))
            return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        }

        func set(_ changes: [String: Any]) async throws {
            var request = URLRequest(url: try #require(URL(string: base + "/control")))
            request.httpMethod = "POST"
            request.httpBody = try JSONSerialization.data(withJSONObject: changes)
            _ = try await URLSession.shared.data(for: request)
        }

        func count(_ name: String) async throws -> Int {
            value(try await control(), "counts", name) as? Int ?? 0
        }

        func add() async throws -> Int32 {
            try await board.latchkey(
                "accounts", "add", "cloud", "--issuer", base + "/good", "--client-id", "board", "--grant", "password",
                "--scope", "a", "--resource", base + "/good"
            ).status
        }

        func logIn() async throws -> Int32 {
            try await board.latchkey("login", "--account", "cloud", "--user", "alice", input: "alice-password\n").status
        }

        /// A call whose token the API refuses, so that it is refreshed.
        func call() async throws -> Int32 {
            try await board.latchkey("call", "--account", "cloud", "GET", "/api").status
        }

        func names() async throws -> [String] {
            let list = try await board.ask("accounts", "list")["accounts"] as? [[String: Any]] ?? []
            return list.compactMap { $0["name"] as? String }
        }
    }

    @Test(
        "a kill leaves an OAuth account whole or absent, and its newest refresh token works", arguments: states.sorted()
    )
    func recovers(_ state: String) async throws {
        let started = StartedPrograms()
        defer { started.endAll() }
        try await StartedPrograms.$here.withValue(started) {
            let script = URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "../OAuthAccounts/server.py").standardizedFileURL
            let server = try RunningProgram(URL(filePath: "/usr/bin/python3"), ["-B", script.path])
            let base = try await server.output.line(containing: "http://")
            let board = try TestBoard(settings: "[telemetry]\nenabled = false")
            try await run(state, Scene(board: board, base: base))
            try await board.tearDown()
        }
    }

    private func run(_ state: String, _ scene: Scene) async throws {
        let board = scene.board
        // What comes before the state is done by a daemon that lives.
        try await board.start()
        if state != "oauth-account-answered" { #expect(try await scene.add() == 0) }
        let needsLogin = state.hasPrefix("oauth-refresh") || state == "oauth-removal-begun"
        if needsLogin { #expect(try await scene.logIn() == 0) }
        try await board.stop()

        board.environment = ["LATCHKEY_KILL_AT": state]
        try await board.start()
        let daemon = try #require(board.daemon)
        let status: Int32
        switch state {
        case "oauth-account-answered": status = try await scene.add()
        case "oauth-login-answered": status = try await scene.logIn()
        case "oauth-removal-begun": status = try await board.latchkey("accounts", "remove", "cloud").status
        default:
            try await scene.set(["revoked": ["access-1"]])
            status = try await scene.call()
        }
        #expect(status != 0)
        #expect(try await daemon.ended() == 128 + SIGKILL)
        #expect(daemon.errors.text.contains("killed at \(state)\n"))

        board.environment = [:]
        try await board.start()
        switch state {
        case "oauth-account-answered":
            #expect(try await scene.names() == [])
            #expect(try await scene.add() == 0)
            #expect(try await scene.logIn() == 0)
        case "oauth-login-answered":
            #expect(try await board.latchkey("whoami", "--account", "cloud").status == 1)
            #expect(try await scene.logIn() == 0)
        case "oauth-refresh-committed":
            // The server has replaced the refresh token, and the new one was kept before it was used.
            #expect(try await board.ask("token", "--account", "cloud")["accessToken"] as? String == "access-2")
            try await scene.set(["revoked": ["access-1", "access-2"]])
        case "oauth-refresh-answered":
            // The answer is lost, and the server takes the old refresh token for a stolen one: the board says so.
            let refused = try await board.latchkey("call", "--json", "--account", "cloud", "GET", "/api")
            #expect(refused.status != 0)
            let token = try await board.latchkey("token", "--json", "--account", "cloud")
            #expect(token.errors.contains("oauth.refresh-refused"), "\(token.errors)")
            #expect(try await scene.count("refresh_token") == 2)
            #expect(try await scene.logIn() == 0)
        default:
            // Logged out at the server already, and not yet gone here.
            #expect(try await scene.names() == ["cloud"])
            #expect(try await board.latchkey("accounts", "remove", "cloud").status == 0)
            #expect(try await scene.names() == [])
            #expect(try await scene.add() == 0)
            #expect(try await scene.logIn() == 0)
        }
        #expect(try await scene.names() == ["cloud"])
        #expect(try await scene.call() == 0)
    }
}
