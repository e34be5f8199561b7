import Foundation
import GatewayLab
import TestSupport
import Testing

/// Each row is a `killPoint` of the record of what the gateway says about a user.
@Suite("Killed while a user's profile is kept", .timeLimit(.minutes(15)))
struct ProfileStateTests {
    enum Act: String {
        /// Alice logs in where nobody was logged in.
        case login
        /// Bob logs in in place of alice, whose profile is kept.
        case replacement
        /// The profile of alice, who is logged in, is asked for again.
        case refresh
    }

    struct State: Sendable, CustomTestStringConvertible {
        let name: String
        let act: Act
        /// Whose profile there is after the next start.
        let profile: String?
        var testDescription: String { "\(name), \(act): \(profile.map { "\($0)'s" } ?? "no profile")" }
    }

    static let states = [
        State(name: "profile-answered", act: .login, profile: nil),
        State(name: "profile-answered", act: .replacement, profile: nil),
        State(name: "profile-answered", act: .refresh, profile: "alice"),
        State(name: "profile-committed", act: .login, profile: "alice"),
        State(name: "profile-committed", act: .replacement, profile: "bob"),
        State(name: "profile-committed", act: .refresh, profile: "alice"),
    ]

    @Test("a user stays logged in after a kill with the whole profile or none, and never another's", arguments: states)
    func recovers(_ state: State) async throws {
        try await inTurn { try await run(state) }
    }

    private func run(_ state: State) async throws {
        var configuration = LabConfiguration()
        configuration.broker = false
        try await withLabAndBoard(configuration, settings: "[telemetry]\nenabled = false") { lab, board in
            _ = try await board.enroll(at: lab)
            if state.act != .login { #expect(try await logIn("alice", on: board) == 0) }
            let earlier = state.act == .login ? nil : try await board.ask("whoami", "--profile")
            try await board.stop()

            board.environment = ["LATCHKEY_KILL_AT": state.name]
            try await board.start()
            let daemon = try #require(board.daemon)
            let user = state.act == .replacement ? "bob" : "alice"
            // The profile is asked for before a login is answered.
            let status =
                try await state.act == .refresh
                ? board.latchkey("whoami", "--info").status : logIn(user, on: board)
            #expect(status != 0)
            #expect(try await daemon.ended() == 128 + SIGKILL)
            #expect(daemon.errors.text.contains("killed at \(state.name)\n"))

            board.environment = [:]
            try await board.start()
            #expect(try await board.ask("whoami")["userName"] as? String == user)
            if let profile = state.profile {
                let kept = try await board.ask("whoami", "--profile")
                #expect(
                    kept["userName"] as? String == profile && kept["emails"] as? [String] == ["\(profile)@lab.test"])
                if state.act == .refresh, state.name == "profile-answered" {
                    #expect(kept["updatedAt"] as? String == earlier?["updatedAt"] as? String)
                }
            } else {
                let none = try await board.latchkey("whoami", "--profile", "--json")
                #expect(none.status != 0 && none.errors.contains("agent.no-profile"), "\(none)")
                #expect(!none.output.contains("alice@lab.test"))
            }
            // Nothing has to be mended: the next question has it, and the session is the user's.
            #expect(try await board.ask("whoami", "--info")["email"] as? String == "\(user)@lab.test")
            #expect(try await board.ask("whoami", "--profile")["emails"] as? [String] == ["\(user)@lab.test"])
            #expect(try await board.latchkey("call", "--as", "user", "GET", "/lab/hello").output.contains(user))
        }
    }

    private func logIn(_ user: String, on board: TestBoard) async throws -> Int32 {
        try await board.latchkey("login", "--user", user, input: "\(user)-password\n").status
    }
}
