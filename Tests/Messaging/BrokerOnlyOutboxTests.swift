import Foundation
import Groundwork
import TestSupport
import Testing

@testable import Messaging

/// The outbox of a connection whose messages only the broker can take (``Durability/broker``).
@Suite("Outbox that keeps nothing", .timeLimit(.minutes(5)))
struct BrokerOnlyOutboxTests {
    private func message(_ payload: String, bytes: Int = 0) throws -> OutgoingMessage {
        OutgoingMessage(topic: try Topic("t"), payload: Array(payload.utf8) + [UInt8](repeating: 0, count: bytes))
    }

    @Test("an outbox that keeps nothing accepts messages when the broker has them, even before a connection")
    func accepts() async throws {
        let broker = try await TestBroker()
        let observer = try await broker.observe("t")
        let station = try await Station(at: broker.address, durability: .broker, running: false)
        let early = Task { try await station.outbox.accept(try message("0")) }
        try await until { await station.outbox.status().unwritten == 1 }
        station.run()
        let first = try await early.value
        #expect(first == 1)
        #expect(try await station.outbox.accept([try message("1"), try message("2")]) == [2, 3])
        #expect(await observer.first(3).map(\.payload) == ["0", "1", "2"])
        let status = await station.outbox.status()
        #expect((status.accepted, status.delivered, status.depth) == (3, 3, 0))
        #expect(try station.bench.outboxFiles().isEmpty)
    }

    @Test("an outbox that keeps nothing refuses what a silent broker does not confirm in time")
    func silent() async throws {
        let broker = try await TestBroker()
        var policy = OutboxPolicy()
        policy.confirmation = .milliseconds(300)
        let station = try await Station(at: broker.address, policy: policy, durability: .broker)
        try await station.waitUntilConnected()
        broker.freeze()
        await #expect(throws: MessagingError.notConfirmed) { try await station.outbox.accept(try message("lost")) }
        #expect(await station.outbox.status().depth == 0)
        broker.thaw()
        try await until { (try? await station.outbox.accept(try message("again"))) != nil }
    }

    @Test("an outbox that keeps nothing refuses with the reason when there is no connection, or it is lost")
    func unreachable() async throws {
        let address = BrokerAddress(host: "127.0.0.1", port: try UnusedPort.reserve())
        let station = try await Station(at: address, durability: .broker)
        let refused = await #expect(throws: MessagingError.self) { try await station.outbox.accept(try message("x")) }
        #expect(refused?.code == "messaging.cannot-connect")
        #expect(refused?.explanation.gateway?.number == 511_001)

        let broker = try await TestBroker()
        let other = try await Station(at: broker.address, durability: .broker)
        try await other.waitUntilConnected()
        broker.freeze()
        let waiting = Task { try await other.outbox.accept(try message("x")) }
        try await until { await other.outbox.status().unwritten == 1 }
        broker.kill()
        let lost = await #expect(throws: MessagingError.self) { _ = try await waiting.value }
        #expect(lost?.code == "messaging.connection-lost")
    }

    @Test("an outbox that keeps nothing refuses what waits when it is closed, and more than fits in memory")
    func bounded() async throws {
        let address = BrokerAddress(host: "127.0.0.1", port: try UnusedPort.reserve())
        let station = try await Station(at: address, durability: .broker, running: false)
        let waiting = Task { try await station.outbox.accept(try message("x")) }
        try await until { await station.outbox.status().unwritten == 1 }
        let much = try (0..<5).map { _ in try message("", bytes: 250_000) }
        let full = await #expect(throws: MessagingError.self) { try await station.outbox.accept(much) }
        #expect(full?.code == "messaging.outbox-full")
        await station.outbox.refuseHeld(because: .userRequired)
        await #expect(throws: MessagingError.userRequired) { _ = try await waiting.value }
        let last = Task { try await station.outbox.accept(try message("y")) }
        try await until { await station.outbox.status().unwritten == 1 }
        await station.outbox.close()
        await #expect(throws: MessagingError.notConfirmed) { _ = try await last.value }
    }

    @Test("an outbox that keeps nothing has the broker forget ended subscriptions with the connection")
    func forgets() async throws {
        let broker = try await TestBroker()
        let station = try await Station(at: broker.address, clientID: "user", durability: .broker)
        try await station.waitUntilConnected()
        let subscription = try await station.messenger.subscribe("mine/#")
        subscription.finish()
        try await station.stop()
        try await broker.publish("missed", to: "mine/x")
        let again = try await Station(at: broker.address, clientID: "user", durability: .broker)
        try await again.waitUntilConnected()
        let other = try await again.messenger.subscribe("mine/#")
        try await broker.publish("now", to: "mine/x")
        #expect(await other.texts(1) == ["now"])
        #expect(await again.messenger.status().unclaimed == 0)
    }
}
