import Foundation
import GatewayLab
import TestSupport
import Testing

/// The same commands at an account of each kind: one that a kind cannot do is refused by name.
@Suite("Accounts of every kind", .timeLimit(.minutes(15)))
struct AccountKindsTests {
    /// How a command ends at an account.
    private enum End: Equatable {
        case done(String)
        case refused(String)
    }

    private struct Row {
        let account: String
        let input: String
        let user: String
        let token: End
        let call: End
    }

    private static let otherKind = End.refused("account.other-kind")
    private static let rows = [
        Row(
            account: "plant", input: "alice-password\n", user: "alice", token: .done("accessToken"),
            call: .done("status")),
        Row(
            account: "person", input: "alice-password\n", user: "alice", token: .done("accessToken"),
            call: .done("status")),
        Row(
            account: "door", input: MPinBoard.pin + "\n", user: "alice@lab.example", token: otherKind,
            call: otherKind),
    ]

    private func end(_ board: TestBoard, _ arguments: String..., input: String? = nil) async throws -> End {
        let result = try await Program(name: "latchkey")
            .run(arguments + ["--json", "--socket", board.socket], input: input)
        let text = result.output.isEmpty ? result.errors : result.output
        guard let answer = try? JSONSerialization.jsonObject(with: Data(text.utf8)) else {
            throw Unexpected("\(arguments) ended with \(result.status): \(text)")
        }
        if let code = value(answer, "error", "code") as? String { return .refused(code) }
        if let name = value(answer, "userName") as? String { return .done(name) }
        return .done(["accessToken", "loggedIn", "status"].first { value(answer, $0) != nil } ?? text)
    }

    @Test("login, whoami, token, call and logout work at an account of each kind that can, and others say so")
    func commands() async throws {
        var configuration = LabConfiguration()
        configuration.broker = false
        let lab = try await Lab.start(configuration)
        try await OAuthServerTests().withServerAndBoard { server, board in
            let url = board.folder.appending(path: "url.txt")
            try Data(try await lab.mintEnrollmentURL().utf8).write(to: url)
            _ = try await board.enroll(url.path, "--account", "plant")
            try await OAuthServerTests().add(
                "person", at: server, client: "password-board", "--grant", "password", "--scope", "openid orders",
                "--resource", server.issuer, secret: "password-secret", to: board)
            try await lab.changeMPinPolicy { ($0.passLife, $0.verdictLife) = (3600, 3600) }
            try await MPinBoard.add("door", at: lab, to: board)
            try await MPinBoard.register("alice@lab.example", at: lab, on: board)
            for row in Self.rows {
                let account = ["--account", row.account]
                #expect(
                    try await end(board, "login", account[0], account[1], "--user", row.user, input: row.input)
                        == .done(row.user), "\(row.account)")
                #expect(try await end(board, "whoami", account[0], account[1]) == .done(row.user), "\(row.account)")
                #expect(try await end(board, "token", account[0], account[1]) == row.token, "\(row.account)")
                #expect(try await end(board, "call", account[0], account[1], "/") == row.call, "\(row.account)")
                #expect(try await end(board, "logout", account[0], account[1]) == .done(row.user), "\(row.account)")
                #expect(try await end(board, "whoami", account[0], account[1]) == .done("loggedIn"), "\(row.account)")
            }
            #expect(
                try await end(board, "login", "--account", "none", "--user", "x", input: "y\n")
                    == .refused("account.unknown"))
        }
        await lab.stop()
    }
}
