import Foundation
import Groundwork
import Storage
import Testing

@testable import Messaging

@Suite("Acceptance by the broker or the disk", .timeLimit(.minutes(5)))
struct SpillTests {
    private let bench: Bench
    private let topic: Topic

    init() throws {
        bench = try Bench()
        topic = try Topic("t")
    }

    /// - Parameter spill: longer than the test, unless it is what is tested.
    private func policy(spill: Duration = .seconds(600), flush: Duration = .seconds(600)) -> OutboxPolicy {
        var policy = OutboxPolicy()
        (policy.spill, policy.flush) = (spill, flush)
        return policy
    }

    private func open(_ policy: OutboxPolicy) async throws -> Outbox {
        try await Outbox.open(at: bench.path("outbox.db"), policy: policy)
    }

    private func message(_ text: String, _ kind: OutgoingMessage.Kind = .explicit) -> OutgoingMessage {
        OutgoingMessage(topic: topic, payload: Array(text.utf8), kind: kind)
    }

    /// What is on the disk, as a kill or a power cut at this moment would leave it.
    private func rows(of bench: Bench? = nil) async throws -> [String] {
        let copy = try Bench()
        for name in try files(of: bench ?? self.bench) {
            try FileManager.default.copyItem(atPath: (bench ?? self.bench).path(name), toPath: copy.path(name))
        }
        let outbox = try await Outbox.open(at: copy.path("outbox.db"))
        let texts = try await outbox.next(limit: 9999, bytes: .max).messages.map {
            String(decoding: $0.message.payload, as: UTF8.self)
        }
        // The counts that a kill leaves fit to the rows that it leaves.
        #expect(await outbox.status().depth == texts.count)
        await outbox.close()
        return texts
    }

    private func files(of bench: Bench) throws -> [String] {
        let folder = URL(fileURLWithPath: bench.path("outbox.db")).deletingLastPathComponent().path
        return try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix("outbox.db") }.sorted()
    }

    private func written(_ bench: Bench) throws -> [Data] {
        try files(of: bench).map { try Data(contentsOf: URL(fileURLWithPath: bench.path($0))) }
    }

    @Test("messages that a connected broker acknowledges in time are never written, one by one or many")
    func connected() async throws {
        let broker = try await TestBroker()
        let observer = try await broker.observe("t")
        let station = try await Station(at: broker.address, policy: policy())
        try await station.waitUntilConnected()
        let before = try written(station.bench)
        for number in 0..<200 { try await station.publish("\(number)", to: "t") }
        // Each was answered when the broker had it.
        #expect(await station.messenger.status().acknowledged == 200)
        try await station.outbox.accept((200..<500).map { message("\($0)") })
        for number in 500..<510 { await station.outbox.offer([message("\(number)", .telemetry)]) }
        try await station.waitUntilSent()
        #expect(await observer.first(510).map(\.payload) == (0..<510).map { "\($0)" })
        #expect(try written(station.bench) == before)
        let status = await station.outbox.status()
        #expect((status.accepted, status.delivered, status.bytes, status.unwritten) == (510, 510, 0, 0))
        // What was counted without being written is written in the end.
        try await station.stop()
        await station.outbox.close()
        let again = try await Outbox.open(at: station.bench.path("outbox.db"))
        #expect(await again.status().delivered == 510)
        #expect(try await again.accept(message("next")) == 511)
    }

    @Test("messages that a broker does not acknowledge in time are on the disk when answered, sent in order")
    func frozenBroker() async throws {
        let broker = try await TestBroker()
        let observer = try await broker.observe("t")
        let station = try await Station(at: broker.address, policy: policy(spill: .milliseconds(300)))
        try await station.waitUntilConnected()
        try await station.publish("0", to: "t")
        // On a busy machine it may have been written.
        try await station.waitUntilSent()
        try await station.outbox.removeAcknowledgedForTest()
        broker.freeze()
        let start = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await station.publish("1", to: "t") }
            group.addTask { try await station.outbox.accept((2..<6).map { message("\($0)") }) }
            try await group.waitForAll()
        }
        #expect(ContinuousClock.now - start >= .milliseconds(300))
        #expect(Set(try await rows(of: station.bench)) == ["1", "2", "3", "4", "5"])
        #expect(await station.outbox.status().unwritten == 0)
        let late = Task { try await station.publish("6", to: "t") }
        try await until { await station.outbox.status().depth == 6 }
        broker.thaw()
        try await late.value
        let found = await observer.first(7).map(\.payload)
        #expect(found.first == "0" && found.last == "6" && Set(found).count == 7)
        #expect(found.firstIndex(of: "2")! < found.firstIndex(of: "3")!)
        try await station.waitUntilSent()
    }

    @Test("messages held when the connection is lost are written and answered then, and sent on the next")
    func lost() async throws {
        let broker = try await TestBroker()
        let observer = try await broker.observe("t")
        let relay = try CuttingRelay(to: broker.address)
        defer { relay.stop() }
        let station = try await Station(at: relay.address, policy: policy())
        try await station.waitUntilConnected()
        relay.holdAnswers()
        let publishing = Task { try await station.publish("held", to: "t") }
        try await until { await station.messenger.status().sent == 1 }
        #expect(await station.outbox.status().unwritten == 1)
        relay.cut()
        try await publishing.value
        #expect(await station.outbox.status().unwritten == 0)
        try await station.publish("after", to: "t")
        var arrived: [String] = []
        for await message in observer.messages {
            arrived.append(message.payload)
            if message.payload == "after" { break }
        }
        #expect(arrived.first == "held")
    }

    @Test("messages held when the connection or the outbox is closed are written and answered then")
    func closed() async throws {
        let broker = try await TestBroker()
        let station = try await Station(at: broker.address, policy: policy())
        try await station.waitUntilConnected()
        broker.freeze()
        let publishing = Task { try await station.publish("held", to: "t") }
        try await until { await station.messenger.status().sent == 1 }
        try await station.stop()
        try await publishing.value
        #expect(try await rows(of: station.bench) == ["held"])
        broker.thaw()

        let outbox = try await open(policy())
        await outbox.offer([message("reading", .telemetry)])
        #expect(try await rows().isEmpty)
        await outbox.close()
        #expect(try await rows() == ["reading"])
    }

    @Test("a publisher that goes away does not take its message along")
    func canceled() async throws {
        let outbox = try await open(policy(spill: .milliseconds(200)))
        try await outbox.rewind { _ in }
        let publishing = Task { try await outbox.accept(message("1")) }
        try await until { await outbox.status().depth == 1 }
        publishing.cancel()
        #expect(try await publishing.value == 1)
        #expect(try await rows() == ["1"])
    }

    @Test("without a connection each message is on the disk when answered, and readings come in groups")
    func away() async throws {
        let outbox = try await open(policy())
        for number in 0..<20 { await outbox.offer([message("\(number)", .telemetry)]) }
        #expect(await outbox.status().unwritten == 20)
        // An attempt to connect has failed.
        try await outbox.rewind(arrival: nil)
        #expect(try await rows().isEmpty)
        // What is written takes along what was before it: the order holds.
        try await outbox.accept(message("message"))
        #expect(try await rows() == (0..<20).map { "\($0)" } + ["message"])
        #expect(await outbox.status().unwritten == 0)

        let grouping = try await Outbox.open(
            at: bench.path("grouping.db"), policy: policy(flush: .milliseconds(200)))
        let log = URL(fileURLWithPath: bench.path("grouping.db-wal"))
        let before = try Data(contentsOf: log).count
        for number in 0..<20 { await grouping.offer([message("\(number)", .telemetry)]) }
        try await until { await grouping.status().unwritten == 0 }
        #expect(await grouping.status().depth == 20)
        // A page of 4 KiB for each would be written one by one.
        #expect(try Data(contentsOf: log).count - before < 20 * 4096)

        let careful = try await Outbox.open(at: bench.path("careful.db"), policy: policy(flush: .zero))
        await careful.offer([message("reading", .telemetry)])
        try await until { await careful.status().depth == 1 }
        #expect(await careful.status().unwritten == 0)
    }

    @Test("messages in memory and on the disk are sent in the order of their numbers, and only once each")
    func mixed() async throws {
        let outbox = try await open(policy())
        try await outbox.accept((1...3).map { message("disk \($0)") })
        try await outbox.rewind { _ in }
        // Behind a backlog on the disk nothing is held.
        try await outbox.accept(message("disk 4"))
        #expect(try await outbox.next(limit: 3, bytes: 1 << 20).messages.map(\.id) == [1, 2, 3])
        #expect(try await outbox.next(limit: 9, bytes: 1 << 20).messages.map(\.id) == [4])
        try await outbox.acknowledge([4])
        let waiting = Task { try await outbox.accept((5...7).map { message("held \($0)") }) }
        try await until { await outbox.status().unwritten == 3 }
        #expect(try await outbox.next(limit: 2, bytes: 1 << 20).messages.map(\.id) == [5, 6])
        try await outbox.acknowledge([2, 6])
        // Written while 5 and 7 are held: the counts on the disk are those of its rows.
        try await outbox.removeAcknowledgedForTest()
        #expect(try await rows() == ["disk 1", "disk 3"])
        #expect(try await outbox.next(limit: 9, bytes: 1 << 20).messages.map(\.id) == [7])
        #expect(try await outbox.next(limit: 9, bytes: 1 << 20).isLast)
        // In flight when they are written: removed when the broker has them.
        await outbox.write()
        #expect(try await waiting.value == [5, 6, 7])
        #expect(try await rows() == ["disk 1", "disk 3", "held 5", "held 7"])
        try await outbox.acknowledge([1, 3, 5, 7])
        try await outbox.rewind(arrival: nil)
        #expect(try await outbox.next(limit: 9, bytes: 1 << 20).messages.isEmpty)
        let status = await outbox.status()
        #expect((status.depth, status.bytes, status.delivered, status.accepted) == (0, 0, 7, 7))
    }

    @Test("a message that is written after later ones were acknowledged from memory counts among the rows")
    func overtaken() async throws {
        let outbox = try await open(policy())
        try await outbox.accept(message("disk 1"))
        try await outbox.rewind { _ in }
        #expect(try await outbox.next(limit: 9, bytes: 1 << 20).isLast)
        let waiting = Task { try await outbox.accept((2...4).map { message("held \($0)") }) }
        try await until { await outbox.status().unwritten == 3 }
        #expect(try await outbox.next(limit: 9, bytes: 1 << 20).messages.map(\.id) == [2, 3, 4])
        try await outbox.acknowledge([1, 3, 4])
        try await outbox.removeAcknowledgedForTest()
        await outbox.write()
        #expect(try await waiting.value == [2, 3, 4])
        #expect(try await rows() == ["held 2"])
    }

    @Test("the limits of an outbox count messages in memory and on the disk together")
    func limits() async throws {
        var policy = OutboxPolicy(limitBytes: 100 * message("000").size, telemetryReserve: 0)
        (policy.spill, policy.flush) = (.seconds(600), .seconds(600))
        let outbox = try await open(policy)
        try await outbox.rewind { _ in }
        let held = Task { try await outbox.accept((100..<150).map { message("\($0)") }) }
        try await until { await outbox.status().unwritten == 50 }
        // Beyond half nothing is held: all is written, and judged.
        try await outbox.accept((150..<200).map { message("\($0)") })
        #expect(try await held.value.count == 50)
        await #expect(throws: MessagingError.outboxFull(limitBytes: policy.limitBytes)) {
            try await outbox.accept(message("200"))
        }
        #expect(await outbox.status().depth == 100)

        // Memory is bounded, whatever the limit of the outbox.
        let large = try await Outbox.open(at: bench.path("large.db"), policy: self.policy())
        try await large.rewind { _ in }
        let big = OutgoingMessage(topic: topic, payload: [UInt8](repeating: 1, count: 200_000))
        let first = Task { try await large.accept(Array(repeating: big, count: 5)) }
        try await until { await large.status().unwritten == 5 }
        #expect(try await large.accept(big) == 6)
        #expect(try await first.value == [1, 2, 3, 4, 5])
    }

    @Test("a disk that is full when messages have to be written refuses them, and readings wait for room")
    func fullDisk() async throws {
        let outbox = try await open(policy(spill: .milliseconds(100)))
        let disk = try await outbox.failWrites()
        try await outbox.rewind { _ in }
        await outbox.offer([message("reading", .telemetry)])
        await #expect(throws: MessagingError.outboxUnusable(.full(path: "disk"))) {
            try await outbox.accept([message("1"), message("2")])
        }
        var status = await outbox.status()
        #expect((status.accepted, status.depth, status.unwritten, status.delivered) == (1, 1, 1, 0))
        // Sent meanwhile, which counts for nothing.
        #expect(try await outbox.next(limit: 9, bytes: 1 << 20).messages.map(\.id) == [1])
        try await outbox.acknowledge([2, 3])
        disk.makeRoom()
        await outbox.write()
        #expect(try await rows() == ["reading"])
        #expect(try await outbox.accept(message("3")) == 4)
        status = await outbox.status()
        #expect((status.accepted, status.depth, status.delivered, status.dropped.total) == (2, 2, 0, 0))
    }
}
