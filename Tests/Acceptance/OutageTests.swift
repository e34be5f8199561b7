import Foundation
import GatewayLab
import TestSupport
import Testing

@Suite("Outages", .timeLimit(.minutes(15)))
struct OutageTests {
    /// The numbers in messages of one topic that reached the broker, in their order, duplicates left out.
    private static func numbers(in lab: Lab, topic: String) -> [Int] {
        var seen: Set<Int> = []
        return lab.messages.filter { $0.topic.hasSuffix("/custom/\(topic)") }
            .compactMap { Int(String(decoding: $0.payload, as: UTF8.self)) }.filter { seen.insert($0).inserted }
    }

    @Test("a broker outage costs no message and keeps the order of a topic")
    func broker() async throws {
        try await withLabAndBoard(settings: "[telemetry]\nenabled = false") { lab, board in
            _ = try await board.enroll(at: lab)
            _ = try await board.status { $0.isConnected }
            let first = (1...100).map(String.init).joined(separator: "\n")
            #expect(try await board.latchkey("publish", "--lines", "counter", input: first).status == 0)
            await lab.stopBroker(abruptly: true)
            let second = (101...200).map(String.init).joined(separator: "\n")
            #expect(try await board.latchkey("publish", "--lines", "counter", input: second).status == 0)
            let without = try await board.status { $0.broker?.state == "waiting" }
            // The gateway is another matter: calls work.
            #expect(without.network?.gateway == "reachable")
            #expect(try await board.latchkey("call", "GET", "/lab/hello").status == 0)
            try await lab.startBroker()
            let status = try await board.status { $0.outbox?.depth == 0 }
            #expect(status.outbox?.dropped == 0)
            #expect(Self.numbers(in: lab, topic: "counter") == Array(1...200))
        }
    }

    @Test("a gateway outage does not cause repeated calls, and no accepted message is lost")
    func gateway() async throws {
        var configuration = LabConfiguration()
        configuration.lives.accessToken = 3600
        try await withLabAndBoard(configuration, settings: "[telemetry]\nenabled = false") { lab, board in
            _ = try await board.enroll(at: lab)
            _ = try await board.status { $0.isConnected }
            await lab.suspend()
            #expect(try await board.latchkey("call", "GET", "/lab/hello").status == 75)
            #expect(try await board.latchkey("publish", "door", "1").status == 0)
            let connections = lab.connections
            // The broker lives: messages pass without the gateway.
            _ = try await board.status { $0.outbox?.depth == 0 }
            #expect(lab.connections == connections)
            try await lab.resume()
            #expect(try await board.latchkey("call", "GET", "/lab/hello").status == 0)
            #expect(await lab.devices().count == 1)
        }
    }
}
