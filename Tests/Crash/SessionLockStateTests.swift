import Cryptography
import Foundation
import GatewayLab
import TestSupport
import Testing
import Vault

/// Each row is a `killPoint` of the lock of a user's session.
@Suite("Killed while a session is locked or unlocked", .timeLimit(.minutes(15)))
struct SessionLockStateTests {
    struct State: Sendable, CustomTestStringConvertible {
        let name: String
        /// What the board does when it is killed.
        let act: String
        /// Who has the session after the next start: the user, the lock or nobody.
        let left: String
        /// How often the gateway was asked to revoke the refresh token when the board was killed.
        var revocations = 0
        var testDescription: String { "\(name): \(left)" }
    }

    static let states = [
        State(name: "lock-sealed", act: "lock", left: "user"),
        State(name: "lock-revoked", act: "lock", left: "user", revocations: 1),
        State(name: "lock-committed", act: "lock", left: "lock", revocations: 1),
        State(name: "unlock-counted", act: "unlock", left: "lock"),
        State(name: "unlock-committed", act: "unlock", left: "user"),
        State(name: "lock-removal-begun", act: "remove", left: "lock"),
        State(name: "lock-removal-committed", act: "remove", left: "nobody"),
    ]

    @Test("a kill during locking leaves the user's session or a locked one, never both", arguments: states)
    func recovers(_ state: State) async throws {
        try await inTurn { try await run(state) }
    }

    private func run(_ state: State) async throws {
        var configuration = LabConfiguration()
        configuration.broker = false
        let board = try TestBoard(settings: "[telemetry]\nenabled = false\n[lock]\ndelay_seconds = 0")
        try await withLabAndBoard(configuration, board: board) { lab, board in
            _ = try await board.enroll(at: lab)
            #expect(try await board.latchkey("login", "--user", "alice", input: "alice-password\n").status == 0)
            if state.act != "lock" { #expect(try await board.latchkey("lock", input: "2580\n").status == 0) }
            try await board.stop()
            lab.resetCounts()

            board.environment = ["LATCHKEY_KILL_AT": state.name]
            try await board.start()
            let daemon = try #require(board.daemon)
            let answer =
                state.act == "remove"
                ? try await board.latchkey("lock", "--remove") : try await board.latchkey(state.act, input: "2580\n")
            #expect(answer.status != 0)
            #expect(try await daemon.ended() == 128 + SIGKILL)
            #expect(daemon.errors.text.contains("killed at \(state.name)\n"))
            #expect(lab.requestCounts[.revocation, default: 0] == state.revocations)
            #expect(
                try await records(of: board)
                    == ["user": ["user-log-in"], "lock": ["user-lock"]][state.left, default: []])

            board.environment = [:]
            try await board.start()
            switch state.left {
            case "user":
                // A refresh token that was revoked does not end the login: the id_token gives another.
                #expect(try await board.latchkey("call", "--as", "user", "GET", "/lab/hello").output.contains("alice"))
                #expect(try await board.latchkey("lock", input: "1379\n").status == 0)
                #expect(try await board.latchkey("unlock", input: "1379\n").status == 0)
            case "lock":
                #expect(try await board.latchkey("call", "--as", "user", "GET", "/lab/hello").status != 0)
                // The attempt that the kill interrupted counts.
                let user = try await board.ask("status")["user"] as? [String: Any]
                #expect(user?["attemptsLeft"] as? Int == (state.act == "unlock" ? 9 : 10))
                #expect(try await board.latchkey("unlock", input: "2580\n").status == 0)
            default:
                #expect(try await board.latchkey("login", "--user", "alice", input: "alice-password\n").status == 0)
            }
            #expect(try await board.latchkey("call", "--as", "user", "GET", "/lab/hello").output.contains("alice"))
        }
    }

    /// The records that the vault of a board has of its user.
    private func records(of board: TestBoard) async throws -> [String] {
        let folder = board.state.path
        let vault = try await Vault.open(
            at: "\(folder)/vault.db", with: [DevelopmentKeyFile("\(folder)/vault.key")], creating: false)
        var found: [String] = []
        for scope in try await vault.scopes() {
            found += try await vault.names(scope: scope).map(\.name).filter { $0.hasPrefix("user-") }
        }
        await vault.close()
        return found
    }
}
