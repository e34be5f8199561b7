import Foundation
import Groundwork
import TestSupport
import Testing

@testable import GatewayLab

extension SecretTests {
    @Test("a locked passcode leaves nothing of a person in the daemon's memory")
    func locked() async throws {
        let board = try TestBoard(program: Self.program, settings: "[storage]\nlocal = true\n")
        var configuration = LabConfiguration()
        configuration.givesSessionsToClients = true
        try await withLabAndBoard(configuration, board: board) { lab, board in
            _ = try await board.enroll(at: lab)
            _ = try await board.status { $0.isConnected }
            func run(_ arguments: String..., input: String) async throws {
                let result = try await Program.shipped.run(arguments + ["--socket", board.socket], input: input + "\n")
                guard result.status == 0 else { throw Unexpected("\(arguments): \(result.errors)") }
            }
            let passcode = "this passcode was planted 5521"
            try await run("login", "--user", "alice", "--password-stdin", input: "alice-password")
            let values = (0..<30).map { "a value that was planted, number \($0) of 30" }
            for (number, value) in values.enumerated() {
                try await run(
                    "storage", "save", "item\(number)", "-", "--segment", "application-user", input: value)
                try await run("storage", "find", "item\(number)", "--segment", "application-user", input: "")
            }
            #expect(try await board.latchkey("call", "GET", "/lab/hello").output.contains("alice"))
            let token = try #require(try await board.ask("token", "--as", "user")["accessToken"] as? String)
            try await run("vault", "passcode", "set", input: passcode)
            try await board.ask("vault", "lock")

            let secrets = (values + [token, passcode, "alice-password"]).map { KnownSecret($0, $0) }
            let process = try #require(board.daemon?.processIdentifier)
            var image = try MemoryImage(of: process)
            // What a request has just left is gone with its connection.
            let end = ContinuousClock.now + .seconds(120)
            while secrets.contains(where: { $0.count(in: image) > 0 }), ContinuousClock.now < end {
                try await Task.sleep(for: .milliseconds(500))
                image = try MemoryImage(of: process)
            }
            for secret in secrets { #expect(secret.count(in: image) == 0, "\(secret.name)") }
        }
    }
}
