import Foundation
import GatewayLab
import Groundwork
import TestSupport
import Testing

/// A registered board on which alice is logged in, for tests of her messages.
enum UserBoard {
    static func with(
        _ lab: LabConfiguration = LabConfiguration(), settings: String = "",
        _ body: (Lab, TestBoard, _ device: String) async throws -> Void
    ) async throws {
        try await withLabAndBoard(lab, settings: settings) { lab, board in
            let enrolled = try await board.enroll(at: lab)
            try await logIn(board, as: "alice")
            try await body(lab, board, try #require(enrolled.registration.deviceID))
        }
    }

    static func logIn(_ board: TestBoard, as user: String) async throws {
        let result = try await board.latchkey("login", "--user", user, "--password-stdin", input: "\(user)-password\n")
        guard result.status == 0 else { throw Unexpected(result.errors) }
    }

    /// The error of a subcommand that has to be refused.
    static func refusal(_ board: TestBoard, _ arguments: String...) async throws -> [String: Any] {
        let result = try await Program(name: "latchkey").run(arguments + ["--json", "--socket", board.socket])
        guard result.status != 0 else { throw Unexpected("\(arguments) was not refused") }
        let error = try JSONSerialization.jsonObject(with: Data(result.errors.utf8))
        return try #require(value(error, "error") as? [String: Any])
    }

    /// The next message at the broker whose topic ends so.
    static func arrival(_ arrivals: AsyncStream<LabMessage>, at topic: String) async throws -> LabMessage {
        try await Acceptance.within(180, "a message at \(topic)") {
            for await message in arrivals where message.topic.hasSuffix(topic) { return message }
            throw Unexpected("the broker's messages ended")
        }
    }

    static func envelope(_ message: LabMessage) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(message.payload)) as? [String: Any])
    }
}
