import Foundation
import Groundwork
import Synchronization
import TestSupport
import Testing

@testable import Messaging

@Suite("Outbox", .timeLimit(.minutes(5)))
struct OutboxTests {
    private let bench: Bench
    private let topic: Topic

    init() throws {
        bench = try Bench()
        topic = try Topic("t")
    }

    private func open(
        _ policy: OutboxPolicy = OutboxPolicy(), durability: Durability = .disk
    ) async throws -> Outbox {
        try await Outbox.open(at: bench.path("outbox.db"), policy: policy, durability: durability)
    }

    private func message(_ text: String, _ kind: OutgoingMessage.Kind = .explicit) -> OutgoingMessage {
        OutgoingMessage(topic: topic, payload: Array(text.utf8), kind: kind)
    }

    @Test(
        "the outbox keeps what it accepted across a restart, in order, with all its properties",
        arguments: [true, false])
    func reopening(closed: Bool) async throws {
        let first = try await open()
        let sent = [
            message("1"), OutgoingMessage(topic: try Topic("u"), payload: [], retain: true, kind: .telemetry),
            OutgoingMessage(topic: topic, payload: Array(0...255), qos: .atMostOnce, publisher: .max),
        ]
        for one in sent { try await first.accept(one) }
        if closed { await first.close() }
        let again = try await open()
        let page = try await again.next(limit: 10, bytes: 1 << 20)
        #expect(page.messages.map(\.message) == sent)
        #expect(page.messages.map(\.id) == [1, 2, 3])
        #expect(page.isLast)
        #expect(await again.status().accepted == 3)
        await again.close()
        await first.close()
    }

    @Test("the outbox has written a message before it reports acceptance")
    func durable() async throws {
        let outbox = try await open()
        try await outbox.accept(message("here"))
        // As a power cut at this moment would leave it.
        let copy = try Bench()
        for name in try bench.outboxFiles() {
            try FileManager.default.copyItem(atPath: bench.path(name), toPath: copy.path(name))
        }
        let other = try await Outbox.open(at: copy.path("outbox.db"))
        #expect(try await other.waiting() == ["here"])
    }

    @Test("the outbox removes what the broker acknowledged, and never uses a number again")
    func acknowledging() async throws {
        let outbox = try await open()
        try await outbox.accept((1...5).map { message("\($0)") })
        let page = try await outbox.next(limit: 3, bytes: 1 << 20)
        try await outbox.acknowledge([page.messages[0].id, page.messages[2].id])
        let status = await outbox.status()
        #expect((status.depth, status.delivered) == (3, 2))
        #expect(try await outbox.waiting() == ["2", "4", "5"])
        try await outbox.acknowledge([2, 4, 5])
        #expect(await outbox.status().bytes == 0)
        await outbox.close()
        let again = try await open()
        #expect(await again.status().delivered == 5)
        #expect(try await again.accept(message("6")) == 6)
    }

    @Test("the outbox writes what the broker acknowledged with the next message, and by itself when none comes")
    func removing() async throws {
        let outbox = try await open()
        try await outbox.accept(message("1"))
        try await outbox.rewind(arrival: nil)
        #expect(try await outbox.next(limit: 1, bytes: 1 << 20).messages.count == 1)
        let left = try await outbox.acknowledgeAndLook([1])
        #expect(left.isPending && left.rows == 1)
        try await outbox.accept(message("2"))
        #expect(try await outbox.rows() == 1)
        // There is nothing left to do later: the thread does not wake for it.
        #expect(await outbox.removal == nil)

        #expect(try await outbox.next(limit: 2, bytes: 1 << 20).messages.count == 1)
        try await outbox.acknowledge([2])
        _ = await outbox.removal?.result
        #expect(try await outbox.rows() == 0)
    }

    @Test("the outbox ignores acknowledgements of messages that it did not return")
    func strangeAcknowledgements() async throws {
        let outbox = try await open()
        try await outbox.accept(message("1"))
        try await outbox.acknowledge([1, 7, -1])
        #expect(await outbox.status().depth == 1)
    }

    @Test("the outbox writes messages that are accepted at the same time together")
    func groupCommit() async throws {
        let outbox = try await open()
        let before = await outbox.transactions
        // The disk is busy while they all come.
        let count = 500
        let calls = Counter()
        let gate = DispatchSemaphore(value: 0)
        async let busy: Void = outbox.hold(gate)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                group.addTask {
                    calls.next()
                    try await outbox.accept(message("\(number)"))
                }
            }
            try await until { calls.count == count }
            gate.signal()
            try await group.waitForAll()
        }
        await busy
        #expect(await outbox.status().depth == count)
        let made = await outbox.transactions - before
        #expect(made < count / 4, "\(made) transactions")
    }

    @Test("the outbox notifies its sender once when there are messages again")
    func arrival() async throws {
        let outbox = try await open()
        let calls = Mutex(0)
        try await outbox.rewind { _ in calls.withLock { $0 += 1 } }
        try await outbox.accept(message("before it has looked"))
        #expect(calls.withLock { $0 } == 0)
        #expect(try await outbox.next(limit: 9, bytes: 1 << 20).isLast)
        try await outbox.accept(message("1"))
        try await outbox.accept(message("2"))
        #expect(calls.withLock { $0 } == 1)
    }

    @Test("the outbox accepts several messages all or none")
    func batches() async throws {
        let size = message("000").size
        let outbox = try await open(OutboxPolicy(limitBytes: 3 * size, telemetryReserve: 0))
        await #expect(throws: MessagingError.self) { try await outbox.accept((0..<4).map { message("10\($0)") }) }
        #expect(await outbox.status().depth == 0)
        #expect(try await outbox.accept((0..<3).map { message("10\($0)") }) == [1, 2, 3])
    }

    @Test("the outbox refuses a payload beyond the limit, and anything once it is closed")
    func refusals() async throws {
        let outbox = try await open(OutboxPolicy(payloadLimit: 10))
        await #expect(throws: MessagingError.payloadTooLarge(bytes: 11, limit: 10)) {
            try await outbox.accept(message("12345678901"))
        }
        await outbox.close()
        await #expect(throws: MessagingError.outboxClosed(path: bench.path("outbox.db"))) {
            try await outbox.accept(message("1"))
        }
    }

    @Test("the outbox starts a new file beside a damaged one, which it keeps")
    func damage() async throws {
        try bench.write(String(repeating: "no database", count: 1000), to: "outbox.db")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: bench.path("outbox.db"))
        let outbox = try await open()
        try await outbox.accept(message("1"))
        let setAside = try #require(await outbox.status().setAside)
        #expect(FileManager.default.fileExists(atPath: setAside))
    }

    @Test("the outbox does not grow with unused topics")
    func topics() async throws {
        // Segments of 4 KiB.
        let outbox = try await open(OutboxPolicy(limitBytes: 64 << 10))
        for round in 0..<8 {
            try await outbox.accept(
                (0..<200).map {
                    OutgoingMessage(topic: try Topic("topic/\(round)/\($0)"), payload: [1])
                })
            while true {
                let page = try await outbox.next(limit: 100, bytes: 1 << 20)
                try await outbox.acknowledge(page.messages.map(\.id))
                if page.isLast { break }
            }
            try await outbox.removeAcknowledgedForTest()
        }
        await outbox.close()
        let segments = try bench.segments()
        #expect(segments.count == 1)
        let left = try Data(contentsOf: URL(filePath: bench.path(segments[0]))).withoutRoom
        #expect(left.count < 1000 && left.firstRange(of: Data("topic/".utf8)) == nil, "\(left.count) bytes")
    }

    @Test("the outbox in memory behaves the same, without a file")
    func memory() async throws {
        let size = message("000").size
        let outbox = try await open(OutboxPolicy(limitBytes: 5 * size), durability: .memory)
        for number in 100..<110 { try await outbox.accept(message("\(number)", .telemetry)) }
        #expect(try await outbox.waiting() == (105..<110).map { "\($0)" })
        try await outbox.acknowledge([6, 8])
        #expect(try await outbox.waiting() == ["106", "108", "109"])
        #expect(!FileManager.default.fileExists(atPath: bench.path("outbox.db")))
    }
}

extension Outbox {
    fileprivate var transactions: UInt64 { (store as? OutboxFile)?.log.number ?? 0 }
    /// Looks before the thread can have removed anything.
    fileprivate func acknowledgeAndLook(_ ids: [Int64]) throws -> (isPending: Bool, rows: Int?) {
        try acknowledge(ids)
        return (removal != nil, try rows())
    }

    /// How many messages are in the file, including those that the broker has.
    fileprivate func rows() throws -> Int? { try store?.page(after: 0, limit: 10, bytes: 1 << 20).messages.count }
}
