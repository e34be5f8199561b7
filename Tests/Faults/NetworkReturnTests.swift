import Foundation
import GatewayLab
import Glibc
import TestSupport
import Testing

/// A board whose link goes and comes back: by the kernel's reports it waits no longer than it must.
@Suite("Return of the network", .timeLimit(.minutes(8)))
struct NetworkReturnTests {
    /// Without a network the agent makes an attempt each minute: connected within less, it was by the kernel's report.
    private static let soon = 45.0

    @Test(
        "a board without a network says so, and connects at once when link, carrier or address is back",
        .enabled(if: geteuid() == 0, "only root makes networks"))
    func comesBack() async throws {
        try await Self.withBoard { board, cable, lab in
            let events = try board.follow("status", "--follow")
            let connected = try await board.status { $0.isConnected && $0.network?.gateway == "reachable" }
            #expect(connected.network?.state == "connected")
            #expect(connected.network?.interface == Cable.link)
            #expect(connected.network?.kind == "ethernet")
            let text = try await board.latchkey("status").output
            #expect(text.contains("\(Cable.link) (ethernet), gateway reachable"), "\(text)")

            for (name, lose, restore) in Self.losses(of: cable) {
                let position = events.output.count
                try await lose()
                _ = try await events.output.line(containing: "\"network.lost\"", after: position)
                // It is not told that the connection is dead, and does not wait for the keep-alive either.
                _ = try await events.output.line(containing: "\"broker.failed\"", after: position)
                let without = try await board.status { $0.broker?.state == "waiting" }
                #expect(without.network?.state == "none")
                #expect(without.network?.gateway == "not-reachable")
                #expect(without.lastError?.code == "network.none", "\(name)")
                #expect(without.lastError?.remedy?.isEmpty == false)
                let delay = try await Self.delay(after: position, in: events)
                #expect(delay >= 60, "\(name): attempts are made in vain, the next after \(delay) s")
                let reading = try await board.latchkey("publish", "name", name)
                #expect(reading.status == 0, "\(reading.errors)")

                let start = ContinuousClock.now
                let back = events.output.count
                try await restore()
                _ = try await events.output.line(containing: "\"broker.connected\"", after: back, within: Self.soon)
                let seconds = (ContinuousClock.now - start) / .seconds(1)
                print("network: \(name): connected \(figure(seconds)) s after it was back; waited for \(delay) s else")
                let drained = try await board.status { $0.outbox?.depth == 0 && $0.network?.gateway == "reachable" }
                #expect(drained.lastError?.code != "network.none")
            }
            let names = lab.messages.filter { $0.topic.hasSuffix("/custom/name") }.map {
                String(decoding: $0.payload, as: UTF8.self)
            }
            #expect(Set(names) == Set(Self.losses(of: cable).map(\.name)))
        }
    }

    @Test(
        "a board that starts without a network registers once there is one, and the doctor names the lack",
        .enabled(if: geteuid() == 0, "only root makes networks"))
    func startsWithout() async throws {
        try await Self.withBoard(enrolls: false) { board, cable, lab in
            let url = try await lab.mintEnrollmentURL()
            // Enrolled and stopped before it could register.
            _ = try await board.enroll(url)
            try await board.status { $0.isConnected }
            try await board.stop()
            try await cable.switchOff()
            try await board.start()
            try await board.status { $0.lastError?.code == "network.none" && $0.broker?.state == "waiting" }
            let doctor = try await board.latchkey("doctor", "--json").json["checks"] as? [[String: Any]] ?? []
            let check = try #require(doctor.first { $0["name"] as? String == "network" })
            #expect(check["verdict"] as? String == "fail")
            let events = try board.follow("status", "--follow")
            _ = try await events.output.line(containing: "\"status\"")
            try await cable.plugIn()
            _ = try await events.output.line(containing: "\"network.changed\"", within: Self.soon)
            _ = try await events.output.line(containing: "\"network.gateway-reachable\"", within: Self.soon)
            #expect(try await board.status().isConnected)
        }
    }

    private typealias Loss = (
        name: String, lose: @Sendable () async throws -> Void, restore: @Sendable () async throws -> Void
    )

    private static func losses(of cable: Cable) -> [Loss] {
        [
            ("link", { try await cable.switchOff() }, { try await cable.plugIn() }),
            ("carrier", { try await cable.setCarrier(false) }, { try await cable.setCarrier(true) }),
            (
                "address", { try await cable.removeAddresses() },
                {
                    try await cable.addAddress()
                    try await cable.addRoute()
                }
            ),
        ]
    }

    /// The seconds until the next attempt, as the event says them.
    private static func delay(after position: Int, in events: RunningProgram) async throws -> Int {
        let line = try await events.output.line(containing: "\"broker.failed\"", after: position)
        let event = try JSONSerialization.jsonObject(with: Data(line.utf8))
        return value(event, "retrySeconds") as? Int ?? value(event, "data", "retrySeconds") as? Int ?? 0
    }

    /// Gives `body` a board behind a cable, enrolled if so wanted, and takes everything away afterwards.
    private static func withBoard(
        enrolls: Bool = true, _ body: (TestBoard, Cable, Lab) async throws -> Void
    ) async throws {
        try await undoing { undo in
            let far = try await Namespace(isIPv6Only: false)
            undo.append { try? await far.remove() }
            let cable = try await Cable(to: far)
            undo.append { try? await cable.remove() }
            var configuration = LabConfiguration()
            configuration.host = far.address
            let lab = try await Lab.start(configuration)
            undo.append { await lab.stop() }
            for port in [lab.port, lab.brokerPort ?? 0] {
                let passage = try Passage(to: port, at: far.address, in: far)
                undo.append { passage.stop() }
            }
            let board = try TestBoard(settings: "[telemetry]\nenabled = false\n")
            undo.append { try? await board.tearDown() }
            board.launcher = cable.launcher
            do {
                try await board.start()
                if enrolls {
                    _ = try await board.enroll(at: lab)
                    try await board.status { $0.isConnected }
                }
                try await body(board, cable, lab)
            } catch {
                throw board.withLastWords(error)
            }
        }
    }
}
