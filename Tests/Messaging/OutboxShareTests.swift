import Foundation
import Testing

@testable import Messaging

@Suite("Room in the outbox")
struct OutboxShareTests {
    private let bench: Bench

    init() throws { bench = try Bench() }

    private func message(_ user: UInt32?, _ kind: OutgoingMessage.Kind = .explicit, bytes: Int = 1000) throws
        -> OutgoingMessage
    {
        OutgoingMessage(
            topic: try Topic("t"), payload: [UInt8](repeating: 1, count: bytes - 1 - OutboxPolicy.rowOverhead),
            kind: kind,
            publisher: user)
    }

    @Test(
        "room in the outbox is at most half for one user's messages, and the rest for others and the agent",
        arguments: [
            Durability.disk, .memory,
        ])
    func half(_ durability: Durability) async throws {
        let outbox = try await Outbox.open(
            at: bench.path("outbox.db"), policy: OutboxPolicy(limitBytes: 100_000), durability: durability)
        for _ in 0..<50 { try await outbox.accept(try message(5)) }
        await #expect(throws: MessagingError.outboxShareFull(limitBytes: 50_000)) {
            try await outbox.accept(try message(5))
        }
        for _ in 0..<20 { try await outbox.accept(try message(6)) }
        for _ in 0..<17 { try await outbox.accept(try message(nil)) }
        await #expect(throws: MessagingError.outboxShareFull(limitBytes: 50_000)) {
            try await outbox.accept(try message(5))
        }
        // What has left makes room for its user.
        let page = try await outbox.next(limit: 10, bytes: 1 << 20)
        try await outbox.acknowledge(page.messages.map(\.id))
        for _ in 0..<10 { try await outbox.accept(try message(5)) }
        await #expect(throws: MessagingError.outboxShareFull(limitBytes: 50_000)) {
            try await outbox.accept(try message(5))
        }
    }

    @Test("shares of the outbox are known again after a restart")
    func restart() async throws {
        let policy = OutboxPolicy(limitBytes: 100_000)
        let first = try await Outbox.open(at: bench.path("outbox.db"), policy: policy)
        for _ in 0..<50 { try await first.accept(try message(.max)) }
        await first.close()
        let again = try await Outbox.open(at: bench.path("outbox.db"), policy: policy)
        await #expect(throws: MessagingError.outboxShareFull(limitBytes: 50_000)) {
            try await again.accept(try message(.max))
        }
        try await again.accept(try message(1))
    }

    @Test("room in the outbox is reserved for readings, however much programs publish")
    func reserve() async throws {
        let outbox = try await Outbox.open(at: bench.path("outbox.db"), policy: OutboxPolicy(limitBytes: 100_000))
        for user in UInt32(1)...87 { try await outbox.accept(try message(user)) }
        for user in [UInt32?.some(88), nil] {
            await #expect(throws: MessagingError.outboxFull(limitBytes: 100_000)) {
                try await outbox.accept(try message(user))
            }
        }
        for _ in 0..<30 { try await outbox.accept(try message(nil, .telemetry)) }
        let status = await outbox.status()
        // The oldest readings gave way to the newest ones, some at a time.
        #expect(status.depth - 87 >= 7 && status.bytes <= 100_000)
        #expect(status.dropped.full == 117 - status.depth)
    }
}

@Suite("An outbox and its identity")
struct OutboxOwnerTests {
    private let bench: Bench

    init() throws { bench = try Bench() }

    private func open(_ owner: String?) async throws -> Outbox {
        try await Outbox.open(at: bench.path("outbox.db"), owner: owner)
    }

    private func fill(_ outbox: Outbox, _ text: String = "the former owner's secret") async throws {
        for _ in 0..<3 {
            try await outbox.accept(OutgoingMessage(topic: try Topic("old/t"), payload: Array(text.utf8)))
        }
        let id = try await outbox.next(limit: 1, bytes: 1 << 20).messages[0].id
        try await outbox.makeDeadLetter(id, because: "test")
        try await outbox.rewind(arrival: nil)
    }

    private var files: Data {
        get throws {
            try bench.outboxFiles().reduce(Data()) { try $0 + Data(contentsOf: URL(fileURLWithPath: bench.path($1))) }
        }
    }

    @Test("an outbox does not send messages accepted for another device, counts them, and keeps no byte of them")
    func otherOwner() async throws {
        let first = try await open("device-1")
        try await fill(first)
        await first.close()
        let second = try await open("device-2")
        #expect(await second.droppedAtOpening == 3)
        #expect(try await second.next(limit: 9, bytes: 1 << 20).messages.isEmpty)
        let status = await second.status()
        #expect((status.depth, status.deadLetters, status.dropped.formerIdentity, status.delivered) == (0, 0, 3, 0))
        #expect(try files.firstRange(of: Data("former owner".utf8)) == nil)
        try await fill(second, "mine")
        await second.close()
        let again = try await open("device-2")
        #expect(await again.droppedAtOpening == 0)
        #expect(await again.status().depth == 2)
    }

    @Test("an outbox of a version without an owner belongs to the first device that opens it")
    func formerVersion() async throws {
        let first = try await open(nil)
        try await fill(first)
        await first.close()
        let second = try await open("device-1")
        #expect(await second.status().depth == 2)
    }

    @Test("an outbox drops everything on request, including messages being sent")
    func clear() async throws {
        let outbox = try await open("device-1")
        try await fill(outbox)
        let page = try await outbox.next(limit: 1, bytes: 1 << 20)
        #expect(try await outbox.clear() == 3)
        try await outbox.acknowledge(page.messages.map(\.id))
        #expect(try await outbox.next(limit: 9, bytes: 1 << 20).messages.isEmpty)
        let status = await outbox.status()
        #expect((status.depth, status.bytes, status.dropped.formerIdentity, status.delivered) == (0, 0, 3, 0))
        #expect(try files.firstRange(of: Data("former owner".utf8)) == nil)
        try await outbox.accept(OutgoingMessage(topic: try Topic("t"), payload: []))
        #expect(await outbox.status().depth == 1)
    }
}
