import Foundation
import GatewayLab
import TestSupport
import Testing

@testable import Messaging

/// What becomes of messages when the agent is killed while it takes, keeps or sends some.
extension StateTests {
    func checkMessages(_ state: KilledState, _ scene: Scene) async throws {
        _ = try await enrolled(scene)
        let reader = try await SecondClient(named: "phone", user: "alice", at: scene.lab, in: scene.board.folder)
        let arrivals = try await reader.subscribe(to: "/2.0/client/users/alice/custom/#")
        if state.point == "outbox-room-written" { try cutRoom(in: scene.board.state) }
        let daemon = try await started(scene, toDieAt: state)
        let topic = "/2.0/client/users/alice/custom/counter"
        // A board takes messages once its outbox is open, a moment after it answers.
        _ = try await scene.board.status(until: \.isConnected)
        if state.act == .spill { await scene.lab.suspendBroker() }
        let published = try await scene.board.latchkey("publish", "--raw", topic, "reading 0 0")
        try await expectDeath(of: daemon, at: state)
        await scene.lab.resumeBroker()
        try await restart(scene)
        _ = try await scene.board.status(until: \.isConnected)
        _ = try await scene.board.ask("publish", "--raw", topic, "reading 0 1")
        _ = try await arrivals.output.line(containing: "reading 0 1")
        let readings = arrivals.output.lines.filter { $0.hasPrefix("reading") }
        if state.act != .deliver { #expect(published.status != 0) }
        switch (state.act, state.point) {
        case (_, "outbox-append-written"), (_, "outbox-held"):
            #expect(readings == ["reading 0 1"])
        case (_, "outbox-append-committed"), (_, "outbox-group-written"), (_, "outbox-acknowledge-committed"),
            (_, "outbox-room-written"), (.hold, _):
            #expect(readings == ["reading 0 0", "reading 0 1"])
        case (_, "outbox-spill-written"):
            #expect(Set(readings).isSubset(of: ["reading 0 0", "reading 0 1"]) && readings.count <= 2, "\(readings)")
        case (_, "outbox-spill-committed"):
            #expect(
                readings.first == "reading 0 0" && readings.last == "reading 0 1" && readings.count <= 3, "\(readings)")
        default:
            #expect(readings == ["reading 0 0", "reading 0 0", "reading 0 1"])
        }
        try await arrivals.stop(SIGKILL)
        try await expectWorking(scene)
    }

    /// Leaves nothing behind the end of the outbox of a board that is off, as a full disk does.
    private func cutRoom(in folder: URL) throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        let name = try #require(names.first { $0.hasPrefix("outbox-") && $0.hasSuffix(".db") })
        let file = try OutboxFile.open(at: folder.appending(path: name).path, policy: OutboxPolicy()).store
        file.log.cut()
        file.close()
    }
}
