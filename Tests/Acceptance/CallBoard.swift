import Foundation
import GatewayLab
import TestSupport

/// A board whose calls are tested.
enum CallBoard {
    /// A registered board where alice is logged in.
    static func withUser(settings: String = "", _ body: (Lab, TestBoard) async throws -> Void) async throws {
        try await withLabAndBoard(lab, settings: settings) { lab, board in
            _ = try await board.enroll(at: lab)
            let logIn = try await board.latchkey(
                "login", "--user", "alice", "--password-stdin", input: "alice-password\n")
            guard logIn.status == 0 else { throw Unexpected(logIn.errors) }
            try await body(lab, board)
        }
    }

    static var lab: LabConfiguration {
        var lab = LabConfiguration()
        lab.broker = false
        return lab
    }

    static func call(_ board: TestBoard, _ arguments: String...) async throws -> [String: Any] {
        let result = try await Program(name: "latchkey").run(["call", "--socket", board.socket] + arguments)
        guard result.status == 0 else { throw Unexpected("\(arguments): \(result.errors)") }
        return try result.json
    }

    static func refusal(_ board: TestBoard, _ arguments: String...) async throws -> (String?, Int?, Int32) {
        let result = try await Program(name: "latchkey").run(arguments + ["--json", "--socket", board.socket])
        let error = try JSONSerialization.jsonObject(with: Data(result.errors.utf8))
        return (
            value(error, "error", "code") as? String, value(error, "error", "gateway", "number") as? Int, result.status
        )
    }
}
