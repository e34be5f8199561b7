import Foundation
import GatewayLab
import TestSupport
import Testing

/// A board with an account at the lab's M-Pin back end, for tests of its users.
enum MPinBoard {
    /// Digits that occur in no log by chance.
    static let pin = "90417263"
    static let wrongPIN = "90417264"

    static func with(
        settings: String = "", _ body: (Lab, TestBoard) async throws -> Void
    ) async throws {
        var configuration = LabConfiguration()
        configuration.broker = false
        try await withLabAndBoard(configuration, settings: "[telemetry]\nenabled = false\n" + settings) { lab, board in
            // What is in memory between the steps of a login outlives those of a slow machine.
            try await lab.changeMPinPolicy { ($0.passLife, $0.verdictLife) = (3600, 3600) }
            try await add("door", at: lab, to: board)
            try await body(lab, board)
            #expect(await lab.mpinViolations() == [])
        }
    }

    static func add(_ name: String, at lab: Lab, to board: TestBoard) async throws {
        let authorities = board.folder.appending(path: "lab.pem").path
        try lab.caCertificatePEM.write(toFile: authorities, atomically: true, encoding: .utf8)
        try await succeeds(board, "mpin", "backend", "add", name, lab.mpinURL, "--authorities", authorities, "--json")
    }

    /// Makes a user and brings the registration as far as it goes without a PIN.
    static func confirm(_ user: String, at lab: Lab, on board: TestBoard) async throws {
        try await succeeds(board, "mpin", "user", "new", user, "--json")
        try await succeeds(board, "mpin", "register", "start", "--user", user, "--json")
        try await lab.activateMPin(user)
        try await succeeds(board, "mpin", "register", "confirm", "--user", user, "--json")
    }

    static func register(_ user: String, at lab: Lab, on board: TestBoard, pin: String = pin) async throws {
        try await confirm(user, at: lab, on: board)
        try await succeeds(board, "mpin", "register", "finish", "--user", user, "--json", input: pin + "\n")
    }

    @discardableResult
    static func succeeds(
        _ board: TestBoard, _ arguments: String..., input: String? = nil
    ) async throws -> Program.Result {
        let result = try await Program(name: "latchkey").run(arguments + ["--socket", board.socket], input: input)
        guard result.status == 0 else { throw Unexpected("\(arguments): \(result.errors)") }
        return result
    }

    /// The code of the error of a subcommand that has to be refused, and its exit status.
    static func refusal(
        _ board: TestBoard, _ arguments: String..., input: String? = nil
    ) async throws -> (code: String, status: Int32) {
        let result = try await Program(name: "latchkey")
            .run(arguments + ["--json", "--socket", board.socket], input: input)
        guard result.status != 0 else { throw Unexpected("\(arguments) was not refused") }
        let error = try JSONSerialization.jsonObject(with: Data(result.errors.utf8))
        return (try #require(value(error, "error", "code") as? String), result.status)
    }

    static func terminal(_ board: TestBoard, _ arguments: String...) throws -> TerminalProgram {
        try TerminalProgram(Program(name: "latchkey").url, arguments + ["--socket", board.socket])
    }

    /// The users of the account `door`, with their states.
    static func states(_ board: TestBoard) async throws -> [String: String] {
        let users = try await board.ask("mpin", "user", "list")["users"] as? [[String: Any]] ?? []
        return Dictionary(
            uniqueKeysWithValues: users.map { ($0["user"] as? String ?? "?", $0["state"] as? String ?? "?") })
    }
}
