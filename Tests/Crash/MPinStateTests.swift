import Foundation
import GatewayLab
import TestSupport
import Testing

/// Each row is a `killPoint` of an account at an M-Pin back end, of a user's registration there, or of a login.
@Suite("Killed while an M-Pin account changes, or a user registers or logs in", .timeLimit(.minutes(15)))
struct MPinStateTests {
    struct State: Sendable, CustomTestStringConvertible {
        let point: String
        /// What the board does when it is killed.
        let act: Act
        /// What is stored of the user, or of the account, after the next start; `nil` for nothing.
        let left: String?
        var testDescription: String { "\(act) at \(point): \(left ?? "nothing")" }
    }

    enum Act { case add, remove, start, restart, confirm, finish, logIn, mistype, block, delete }

    static let states = [
        State(point: "mpin-account-answered", act: .add, left: nil),
        State(point: "mpin-account-committed", act: .add, left: noUser),
        State(point: "mpin-removal-begun", act: .remove, left: "REGISTERED"),
        State(point: "mpin-removal-committed", act: .remove, left: nil),
        State(point: "mpin-registration-answered", act: .start, left: noUser),
        State(point: "mpin-registration-committed", act: .start, left: "STARTED_REGISTRATION"),
        State(point: "mpin-registration-answered", act: .restart, left: "STARTED_REGISTRATION"),
        State(point: "mpin-registration-committed", act: .restart, left: "STARTED_REGISTRATION"),
        State(point: "mpin-first-share-obtained", act: .confirm, left: "STARTED_REGISTRATION"),
        State(point: "mpin-shares-obtained", act: .confirm, left: "STARTED_REGISTRATION"),
        State(point: "mpin-token-made", act: .finish, left: "STARTED_REGISTRATION"),
        State(point: "mpin-token-committed", act: .finish, left: "REGISTERED"),
        State(point: "mpin-permit-obtained", act: .logIn, left: "REGISTERED"),
        State(point: "mpin-pass-one-answered", act: .logIn, left: "REGISTERED"),
        State(point: "mpin-validator-made", act: .logIn, left: "REGISTERED"),
        State(point: "mpin-pass-two-answered", act: .logIn, left: "REGISTERED"),
        State(point: "mpin-verdict-answered", act: .logIn, left: "REGISTERED"),
        State(point: "mpin-permit-doubted", act: .mistype, left: "REGISTERED"),
        State(point: "mpin-blocked-answered", act: .block, left: "REGISTERED"),
        State(point: "mpin-blocked-committed", act: .block, left: "BLOCKED"),
        State(point: "mpin-user-deletion-begun", act: .delete, left: "REGISTERED"),
        State(point: "mpin-user-deletion-committed", act: .delete, left: noUser),
    ]

    private static let noUser = "an account"
    private static let pin = "90417263"
    private static let wrong = "90417264"

    private struct Scene {
        let lab: Lab
        let board: TestBoard

        func mpin(_ arguments: String..., pin: String? = nil) async throws -> Program.Result {
            try await Program(name: "latchkey")
                .run(["mpin"] + arguments + ["--json", "--socket", board.socket], input: pin.map { $0 + "\n" })
        }

        func expect(_ arguments: String..., pin: String? = nil) async throws {
            let result = try await Program(name: "latchkey")
                .run(["mpin"] + arguments + ["--socket", board.socket], input: pin.map { $0 + "\n" })
            #expect(result.status == 0, "\(arguments): \(result.errors)")
        }

        func add() async throws -> Program.Result {
            let authorities = board.folder.appending(path: "lab.pem").path
            try lab.caCertificatePEM.write(toFile: authorities, atomically: true, encoding: .utf8)
            return try await mpin("backend", "add", "door", lab.mpinURL, "--authorities", authorities)
        }

        func begin() async throws {
            try await expect("user", "new", "alice")
            try await expect("register", "start")
            try await lab.activateMPin("alice")
        }

        func finish() async throws {
            try await expect("register", "confirm")
            try await expect("register", "finish", pin: MPinStateTests.pin)
        }

        func state() async throws -> String? {
            let backends = try await board.ask("mpin", "backend", "list")["accounts"] as? [[String: Any]] ?? []
            guard let backend = backends.first else { return nil }
            return (backend["users"] as? [[String: Any]])?.first?["state"] as? String ?? MPinStateTests.noUser
        }
    }

    @Test(
        "a kill leaves an M-Pin user a token exactly if the state says so, and a registration goes on or anew",
        arguments: states)
    func recovers(_ state: State) async throws {
        try await inTurn {
            var configuration = LabConfiguration()
            configuration.broker = false
            let board = try TestBoard(settings: "[telemetry]\nenabled = false")
            try await withLabAndBoard(configuration, board: board) { lab, board in
                let scene = Scene(lab: lab, board: board)
                if state.act != .add { #expect(try await scene.add().status == 0) }
                try await kill(at: state, scene)
                #expect(try await scene.state() == state.left)
                try await goOn(from: state, scene)
                #expect(try await scene.state() == "REGISTERED")
                try await scene.expect("login", pin: Self.pin)
                // Among them: a U that an earlier life of the board has sent, which is an x used twice (MPIN 2.8).
                #expect(await lab.mpinViolations() == [])
            }
        }
    }

    /// What comes before the act is done by a daemon that lives, unless it is in memory only.
    private func kill(at state: State, _ scene: Scene) async throws {
        let board = scene.board
        switch state.act {
        case .add, .start: break
        case .confirm, .finish: try await scene.begin()
        case .restart:
            // With its secret given, the back end ends the registration, and gives another identity.
            try await scene.begin()
            try await scene.expect("register", "confirm")
        case .remove, .logIn, .mistype, .block, .delete:
            try await scene.begin()
            try await scene.finish()
        }
        try await board.stop()
        board.environment = ["LATCHKEY_KILL_AT": state.point]
        try await board.start()
        let daemon = try #require(board.daemon)
        let result: Program.Result
        switch state.act {
        case .add: result = try await scene.add()
        case .remove: result = try await scene.mpin("backend", "remove", "door", "--yes")
        case .start:
            try await scene.expect("user", "new", "alice")
            result = try await scene.mpin("register", "start")
        case .restart: result = try await scene.mpin("register", "restart")
        case .confirm: result = try await scene.mpin("register", "confirm")
        case .finish:
            try await scene.expect("register", "confirm")
            result = try await scene.mpin("register", "finish", pin: Self.pin)
        case .logIn: result = try await scene.mpin("login", pin: Self.pin)
        case .mistype: result = try await scene.mpin("login", pin: Self.wrong)
        case .block:
            for _ in 0..<2 {
                let refused = try await scene.mpin("login", pin: Self.wrong)
                #expect(refused.errors.contains("mpin.incorrect-pin"))
            }
            result = try await scene.mpin("login", pin: Self.wrong)
        case .delete: result = try await scene.mpin("user", "delete", "alice")
        }
        #expect(result.status != 0)
        #expect(try await daemon.ended() == 128 + SIGKILL)
        #expect(daemon.errors.text.contains("killed at \(state.point)\n"))
        board.environment = [:]
        try await board.start()
    }

    private func goOn(from state: State, _ scene: Scene) async throws {
        switch (state.act, state.left) {
        case (.add, nil), (.remove, nil):
            // Nothing is in the way of one made anew.
            #expect(try await scene.add().status == 0)
            fallthrough
        case (.add, _):
            try await scene.begin()
            try await scene.finish()
        case (.start, Self.noUser), (.delete, Self.noUser):
            try await scene.begin()
            try await scene.finish()
        case (.restart, _) where state.point == "mpin-registration-answered":
            // The board has still the identity that has ended, and gets another one again.
            try await scene.expect("register", "restart")
            fallthrough
        case (.start, _), (.restart, _):
            try await scene.lab.activateMPin("alice")
            try await scene.finish()
        case (.confirm, _), (.finish, "STARTED_REGISTRATION"):
            // The back end gives a secret once.
            #expect(try await scene.mpin("register", "confirm").errors.contains("mpin.identity-not-verified"))
            try await scene.expect("register", "restart")
            try await scene.lab.activateMPin("alice")
            try await scene.finish()
        case (.block, "REGISTERED"):
            // The back end knows it, and says so to the right PIN too.
            #expect(try await scene.mpin("login", pin: Self.pin).errors.contains("mpin.blocked"))
            #expect(try await scene.state() == "BLOCKED")
            try await again(scene)
        case (.block, _): try await again(scene)
        default: break
        }
    }

    private func again(_ scene: Scene) async throws {
        try await scene.expect("user", "delete", "alice")
        try await scene.begin()
        try await scene.finish()
    }
}
