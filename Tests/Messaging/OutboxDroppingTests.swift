import Foundation
import Groundwork
import Testing

@testable import Messaging

@Suite("Dropping from an outbox", .timeLimit(.minutes(5)))
struct OutboxDroppingTests {
    private let bench: Bench
    private let topic: Topic

    init() throws {
        bench = try Bench()
        topic = try Topic("t")
    }

    private func open(
        _ policy: OutboxPolicy = OutboxPolicy(), clock: WatchedClock = WatchedClock()
    ) async throws -> Outbox {
        try await Outbox.open(at: bench.path("outbox.db"), policy: policy, durability: .disk, clock: clock)
    }

    private func message(_ text: String, _ kind: OutgoingMessage.Kind = .explicit) -> OutgoingMessage {
        OutgoingMessage(topic: topic, payload: Array(text.utf8), kind: kind)
    }

    @Test("the outbox drops the oldest telemetry when it is full, and reports how much")
    func fullOfTelemetry() async throws {
        let size = message("000").size
        let outbox = try await open(OutboxPolicy(limitBytes: 10 * size))
        let events = outbox.events.subscribe()
        try await outbox.accept(message("exp"))
        for number in 100..<130 { try await outbox.accept(message("\(number)", .telemetry)) }
        let status = await outbox.status()
        #expect(status.bytes <= 10 * size)
        #expect(status.depth == 10)
        #expect(status.dropped == .init(full: 21, expired: 0, unsendable: 0))
        #expect(try await outbox.waiting() == ["exp"] + (121..<130).map { "\($0)" })
        let first = await events.first { _ in true }
        #expect(first == .dropped(count: 1, .full, total: 1))
        await outbox.close()
        let again = try await open()
        #expect(await again.status().dropped.full == 21)
    }

    @Test("the outbox refuses an explicit message when no telemetry can make room, and drops nothing for it")
    func fullOfExplicit() async throws {
        let size = message("000").size
        let outbox = try await open(OutboxPolicy(limitBytes: 4 * size, telemetryReserve: 0))
        for number in 100..<103 { try await outbox.accept(message("\(number)")) }
        try await outbox.accept(message("tel", .telemetry))
        await #expect(throws: MessagingError.outboxFull(limitBytes: 4 * size)) {
            try await outbox.accept(message(String(repeating: "x", count: 2 * size)))
        }
        #expect(await outbox.status().dropped.total == 0)
        try await outbox.accept(message("103"))
        #expect(try await outbox.waiting() == ["100", "101", "102", "103"])
        await #expect(throws: MessagingError.outboxFull(limitBytes: 4 * size)) {
            try await outbox.accept(message("104"))
        }
        await #expect(throws: MessagingError.self) { try await outbox.accept(message("tel", .telemetry)) }
        let status = await outbox.status()
        #expect((status.dropped.full, status.delivered, status.accepted) == (2, 0, 5))
    }

    @Test("the outbox does not drop what is being sent")
    func underWay() async throws {
        let size = message("000").size
        let outbox = try await open(OutboxPolicy(limitBytes: 3 * size))
        for number in 100..<103 { try await outbox.accept(message("\(number)", .telemetry)) }
        _ = try await outbox.next(limit: 2, bytes: 1 << 20)
        try await outbox.accept(message("103", .telemetry))
        #expect(try await outbox.waiting() == ["100", "101", "103"])
    }

    @Test("the outbox drops messages that are too old, whatever their kind")
    func age() async throws {
        let clocks = SetClocks(OutboxPolicy.plausibleSince)
        let outbox = try await open(OutboxPolicy(maxAge: .seconds(3600)), clock: clocks.clock)
        for number in 0..<20 { try await outbox.accept(message("\(number)")) }
        clocks.pass(1800)
        try await outbox.accept(message("young", .telemetry))
        #expect(await outbox.status().oldest == OutboxPolicy.plausibleSince)
        clocks.pass(1900)
        #expect(try await outbox.waiting() == ["young"])
        let status = await outbox.status()
        #expect((status.dropped.expired, status.depth) == (20, 1))
    }

    @Test("messages accepted while the clock showed 1970 are not judged by it")
    func unsetClock() async throws {
        let clocks = SetClocks(Date(timeIntervalSince1970: 60))
        let outbox = try await open(OutboxPolicy(maxAge: .seconds(3600)), clock: clocks.clock)
        try await outbox.accept(message("early"))
        clocks.step(to: OutboxPolicy.plausibleSince + 100)
        clocks.clock.confirm()
        #expect(try await outbox.waiting() == ["early"])
    }
}
