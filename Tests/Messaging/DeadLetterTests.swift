import Foundation
import Groundwork
import Testing

@testable import Messaging

@Suite("Dead letters", .timeLimit(.minutes(8)))
struct DeadLetterTests {
    /// As the agent has it: what the broker acknowledges first on each connection.
    private func present(_ settings: inout MessengerSettings) throws { settings.presenceTopic = try Topic("presence") }

    private func buried(_ station: Station, during body: () async throws -> Void) async throws -> DeadLetter {
        let events = station.outbox.events.subscribe()
        try await body()
        for await event in events { if case .deadLetter(let letter) = event { return letter } }
        throw CancellationError()
    }

    @Test("a message too large for Mosquitto is set aside after three tries alone, and blocks no other")
    func tooLarge() async throws {
        let broker = try await TestBroker(.init(lines: ["allow_anonymous true", "max_packet_size 20000"]))
        let observer = try await broker.observe("t/#")
        let station = try await Station(at: broker.address, adjust: present)
        try await station.waitUntilConnected()
        let letter = try await buried(station) {
            for number in 0..<30 { try await station.publish("before \(number)", to: "t/small") }
            try await station.publish(String(repeating: "A", count: 30_000), to: "t/big")
            for number in 0..<30 { try await station.publish("after \(number)", to: "t/small") }
        }
        #expect((letter.topic.name, letter.bytes) == ("t/big", 30_000))
        #expect(letter.reason.contains("alone"))
        var arrived: Set<String> = []
        for await message in observer.messages {
            arrived.insert(message.payload)
            if arrived.count == 60 { break }
        }
        try await station.waitUntilSent()
        let status = await station.outbox.status()
        #expect((status.depth, status.deadLetters, status.dropped.total, status.delivered) == (0, 1, 0, 60))
    }

    @Test("a rejected message is found among hundreds when the broker resets the connection for its topic")
    func forbiddenTopic() async throws {
        let broker = try await TestBroker()
        let observer = try await broker.observe("t/#")
        let relay = try CuttingRelay(to: broker.address, fatal: "t/forbidden")
        defer { relay.stop() }
        let station = try await Station(at: relay.address, running: false, adjust: present)
        for number in 0..<150 {
            try await station.publish("\(number)", to: number == 70 ? "t/forbidden" : "t/\(number % 4)")
        }
        let letter = try await buried(station) { station.run() }
        #expect(letter.topic.name == "t/forbidden")
        var arrived: Set<String> = []
        for await message in observer.messages {
            arrived.insert(message.payload)
            if arrived.count == 149 { break }
        }
        #expect(!arrived.contains("70"))
        try await station.waitUntilSent()
        #expect(await station.outbox.status().deadLetters == 1)
    }

    @Test("a rejected message can be looked at, sent again and removed, also after a restart")
    func afterwards() async throws {
        let broker = try await TestBroker(.init(lines: ["allow_anonymous true", "max_packet_size 20000"]))
        let bench = try Bench()
        let big = String(repeating: "B", count: 30_000)
        do {
            let station = try await Station(at: broker.address, bench: bench, adjust: present)
            _ = try await buried(station) { try await station.publish(big, to: "t") }
            try await station.stop()
            await station.outbox.close()
        }
        // A broker of other settings takes it.
        let kinder = try await TestBroker()
        let observer = try await kinder.observe("t")
        let station = try await Station(at: kinder.address, bench: bench)
        let letter = try #require(await station.outbox.deadLetters().first)
        #expect(try await station.outbox.payload(ofDeadLetter: letter.id) == Array(big.utf8))
        try await station.outbox.retryDeadLetter(letter.id)
        #expect(await observer.first().map(\.payload) == [big])
        try await station.waitUntilSent()
        var status = await station.outbox.status()
        #expect((status.deadLetters, status.delivered, status.dropped.total) == (0, 1, 0))
        await #expect(throws: MessagingError.noSuchDeadLetter(letter.id)) {
            try await station.outbox.removeDeadLetter(letter.id)
        }
        try await station.stop()

        let again = try await Station(at: broker.address, bench: bench, adjust: present)
        let second = try await buried(again) { try await again.publish(big, to: "t") }
        try await again.outbox.removeDeadLetter(second.id)
        status = await again.outbox.status()
        #expect((status.deadLetters, status.dropped.unsendable) == (0, 1))
        #expect(await again.outbox.deadLetters().isEmpty)
    }

    @Test("a rejected message is blamed only when alone in flight, and sooner for hang-ups than silence")
    func blame() {
        var pace = SendPace(limit: 100)
        func end(_ cause: ConnectionLoss.Cause, _ ids: Int64...) -> Int64? {
            pace.connectionEnded(with: .init(cause: cause, underWay: ids))
        }
        for _ in 0..<20 { #expect(end(.hangUp, 1, 2) == nil) }
        #expect(end(.hangUp, 1) == nil)
        #expect(end(.hangUp, 1) == nil)
        // What the broker takes in the end is beyond suspicion.
        pace.acknowledge([1])
        #expect(!pace.isCautious)
        #expect(end(.hangUp, 1) == nil)
        #expect(end(.hangUp, 1) == nil)
        #expect(end(.hangUp, 1) == 1)
        for _ in 0..<9 { #expect(end(.silence, 7) == nil) }
        #expect(end(.silence, 7) == 7)
        // Nothing was under way: nobody's fault.
        #expect(end(.hangUp) == nil)
        // Nor where the broker had not acknowledged anything: then it may be ill.
        for _ in 0..<20 {
            #expect(pace.connectionEnded(with: .init(cause: .hangUp, underWay: [8], isProven: false)) == nil)
        }
    }

    @Test("after one rejected message of a user the others cost one try each, until enough was sent")
    func offender() {
        var pace = SendPace(limit: 4)
        func tries(_ id: Int64, of user: UInt32) -> Int {
            let loss = ConnectionLoss(cause: .hangUp, underWay: [id])
            return (1...10).first { _ in pace.connectionEnded(with: loss, of: .user(user)) == id } ?? 0
        }
        #expect(tries(1, of: 1000) == 3)
        #expect(tries(2, of: 1000) == 1)
        #expect(tries(3, of: 1001) == 3)
        #expect(tries(4, of: 1000) == 1)
        pace.acknowledge(Array(5...8))
        #expect(tries(9, of: 1000) == 1)
        for id in Int64(10)...20 { pace.acknowledge([id]) }
        #expect(tries(21, of: 1000) == 3)
    }

    @Test("messages that are set aside are progress: the way to the next one does not get longer each time")
    func manyRejected() async throws {
        let broker = try await TestBroker(.init(lines: ["allow_anonymous true", "max_packet_size 20000"]))
        let observer = try await broker.observe("t/small")
        let station = try await Station(at: broker.address, running: false) {
            try present(&$0)
            // Twice as long each time, it would be an hour after fifteen connections.
            $0.backoff = Backoff(initial: .milliseconds(50), cap: .seconds(3600))
        }
        for _ in 0..<6 { try await station.publish(String(repeating: "A", count: 30_000), to: "t/big") }
        try await station.publish("after", to: "t/small")
        station.run()
        #expect(await observer.first().map(\.payload) == ["after"])
        #expect(await station.outbox.status().deadLetters == 6)
    }

    @Test("messages of others go before those of a user whose message the broker does not take")
    func othersFirst() async throws {
        let broker = try await TestBroker(.init(lines: ["allow_anonymous true", "max_packet_size 20000"]))
        let observer = try await broker.observe("t/small")
        let station = try await Station(at: broker.address, running: false) {
            try present(&$0)
            $0.backoff = Backoff(initial: .milliseconds(50), cap: .seconds(3600))
        }
        let events = station.outbox.events.subscribe()
        func publish(_ text: String, to topic: String, as user: UInt32) async throws {
            try await station.outbox.accept(
                OutgoingMessage(topic: Topic(topic), payload: Array(text.utf8), publisher: user))
        }
        for number in 1...10 {
            try await publish(String(repeating: "A", count: 30_000), to: "t/big", as: 1000)
            try await publish("own \(number)", to: "t/small", as: 1000)
        }
        for number in 1...30 { try await publish("\(number)", to: "t/small", as: 1001) }
        station.run()
        let first = await observer.first(30).map(\.payload)
        #expect(first == (1...30).map { "\($0)" })
        // The first one costs three tries; by then the others' have arrived.
        for await event in events { if case .deadLetter = event { break } }
        #expect(await observer.first(10).map(\.payload) == (1...10).map { "own \($0)" })
        try await station.waitUntilSent()
        let status = await station.outbox.status()
        #expect((status.deadLetters, status.delivered, status.dropped.total) == (10, 40, 0))
    }

    @Test("the oldest dead letters are dropped when there are too many")
    func bound() async throws {
        let bench = try Bench()
        // An eighth is for dead letters.
        let policy = OutboxPolicy(limitBytes: 512_000)
        let outbox = try await Outbox.open(at: bench.path("outbox.db"), policy: policy)
        for _ in 0..<70 {
            try await outbox.accept(OutgoingMessage(topic: try Topic("t"), payload: [UInt8](repeating: 0, count: 1000)))
        }
        let page = try await outbox.next(limit: 100, bytes: 1 << 20)
        for message in page.messages { try await outbox.makeDeadLetter(message.id, because: "test") }
        let status = await outbox.status()
        #expect((status.deadLetters, status.dropped.unsendable, status.depth) == (64, 6, 0))
        #expect(await outbox.deadLetters().first?.id == 7)
        await outbox.close()
        let again = try await Outbox.open(at: bench.path("outbox.db"), policy: policy)
        #expect(await again.deadLetters().count == 64)
        #expect(await again.status().delivered == 0)
    }
}
