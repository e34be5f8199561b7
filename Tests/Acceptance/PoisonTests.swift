import Foundation
import GatewayLab
import TestSupport
import Testing

@Suite("A message that stops the connection", .timeLimit(.minutes(15)))
struct PoisonTests {
    private func withSmallBroker(_ body: (Lab, TestBoard) async throws -> Void) async throws {
        var configuration = LabConfiguration()
        configuration.brokerPacketLimit = 20_000
        try await withLabAndBoard(configuration, settings: "[telemetry]\nenabled = false") { lab, board in
            _ = try await board.enroll(at: lab)
            _ = try await board.status { $0.isConnected }
            try await body(lab, board)
        }
    }

    @Test("a rejected message is set aside, shown, blocks no other, and can be retried or removed")
    func setAside() async throws {
        try await withSmallBroker { lab, board in
            let big = String(repeating: "A", count: 30_000)
            #expect(try await board.latchkey("publish", "big", input: big).status == 0)
            #expect(try await board.latchkey("publish", "small", "two").status == 0)
            let status = try await board.status {
                $0.outbox?.deadLetters == 1 && $0.outbox?.depth == 0
            }
            #expect(status.outbox?.dropped == 0)
            #expect(lab.messages.contains { $0.topic.hasSuffix("/custom/small") })

            let shown = try await board.latchkey("status")
            #expect(shown.output.contains("dead letters"))
            let doctor = try await board.latchkey("doctor")
            #expect(doctor.output.contains("latchkey dead-letters"))
            let listed = try await board.latchkey("dead-letters")
            #expect(listed.output.contains("/custom/big, 30000 bytes"))
            let letters = try #require(try await board.ask("dead-letters", "list")["deadLetters"] as? [[String: Any]])
            let id = String(try #require(letters.first?["id"] as? Int))
            #expect(try await board.latchkey("dead-letters", "show", id).output == big)
            #expect(try await board.ask("dead-letters", "show", id)["bytes"] as? Int == big.utf8.count)

            // It survives a kill, and is as poisonous as before.
            try await board.stop(SIGKILL)
            try await board.start()
            #expect(try await board.latchkey("dead-letters", "retry", id, "--json").status == 0)
            _ = try await board.status { $0.outbox?.deadLetters == 1 }
            let again = try #require(try await board.ask("dead-letters", "list")["deadLetters"] as? [[String: Any]])
            let second = String(try #require(again.first?["id"] as? Int))
            #expect(second != id)
            #expect(try await board.latchkey("dead-letters", "remove", second, "--json").status == 0)
            #expect(try await board.latchkey("dead-letters").output.contains("no dead letters"))
            #expect(try await board.latchkey("dead-letters", "remove", second).status != 0)
        }
    }

    @Test("a message that is too large is refused at once where the settings know the broker's limit")
    func limit() async throws {
        let settings = "[telemetry]\nenabled = false\n[outbox]\npayload_limit_bytes = 16384"
        try await withLabAndBoard(settings: settings) { lab, board in
            _ = try await board.enroll(at: lab)
            _ = try await board.status { $0.isConnected }
            let refused = try await board.latchkey(
                "publish", "--json", "big", input: String(repeating: "A", count: 16_385))
            #expect(refused.errors.contains("messaging.payload-too-large"))
            #expect(
                try await board.latchkey("publish", "big", input: String(repeating: "A", count: 16_384)).status == 0)
        }
    }
}

@Suite("Messages of an identity that is gone", .timeLimit(.minutes(15)))
struct FormerIdentityTests {
    @Test(
        "messages of an identity that is gone are not sent by the next one; both commands report them",
        arguments: ["reset", "deregister"])
    func notSent(command: String) async throws {
        try await withLabAndBoard(settings: "[telemetry]\nenabled = false") { lab, board in
            _ = try await board.enroll(at: lab)
            _ = try await board.status { $0.isConnected }
            await lab.stopBroker(abruptly: true)
            _ = try await board.status { !$0.isConnected }
            for number in 1...3 {
                #expect(try await board.latchkey("publish", "secret/\(number)", "old identity").status == 0)
            }
            let gone = try await board.latchkey(command, "--yes")
            #expect(gone.status == 0)
            #expect(gone.output.contains("3 messages"), "\(gone.output)")

            _ = try await board.enroll(at: lab)
            try await lab.startBroker()
            #expect(try await board.latchkey("publish", "mine", "new identity").status == 0)
            let status = try await board.status {
                $0.outbox?.depth == 0 && $0.isConnected
            }
            #expect(lab.messages.contains { $0.topic.hasSuffix("/custom/mine") })
            #expect(!lab.messages.contains { $0.topic.contains("/secret/") })
            #expect(status.outbox?.delivered == 1)
            #expect(status.outbox?.dropped == 3)
        }
    }

    @Test("messages of an identity that is gone are not sent even if the agent was killed before deleting them")
    func killed() async throws {
        try await withLabAndBoard(settings: "[telemetry]\nenabled = false") { lab, board in
            _ = try await board.enroll(at: lab)
            _ = try await board.status { $0.isConnected }
            await lab.stopBroker(abruptly: true)
            _ = try await board.status { !$0.isConnected }
            #expect(try await board.latchkey("publish", "secret/one", "old identity").status == 0)
            let outbox = try #require(
                try FileManager.default.contentsOfDirectory(atPath: board.state.path).first {
                    $0.hasPrefix("outbox-") && $0.hasSuffix(".db")
                })
            // As it was at the moment of the kill, with what the reset had not got to.
            try await board.stop(SIGKILL)
            let kept = board.folder.appending(path: "kept")
            try FileManager.default.createDirectory(at: kept, withIntermediateDirectories: true)
            for name in try FileManager.default.contentsOfDirectory(atPath: board.state.path)
            where name.hasPrefix(outbox) {
                try FileManager.default.copyItem(at: board.state.appending(path: name), to: kept.appending(path: name))
            }
            try await board.start()
            #expect(try await board.latchkey("reset", "--yes").status == 0)
            try await board.stop()
            for name in try FileManager.default.contentsOfDirectory(atPath: board.state.path)
            where name.hasPrefix(outbox) {
                try FileManager.default.removeItem(at: board.state.appending(path: name))
            }
            for name in try FileManager.default.contentsOfDirectory(atPath: kept.path) {
                try FileManager.default.copyItem(at: kept.appending(path: name), to: board.state.appending(path: name))
            }
            try await board.start()
            try await lab.startBroker()
            _ = try await board.enroll(at: lab)
            let status = try await board.status { $0.isConnected && $0.outbox?.depth == 0 }
            #expect(status.outbox?.dropped == 1)
            #expect(!lab.messages.contains { $0.topic.contains("/secret/") })
        }
    }
}
