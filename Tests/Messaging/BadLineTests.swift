import Foundation
import Groundwork
import Testing

@testable import Messaging

@Suite("A broker connection that breaks", .timeLimit(.minutes(8)))
struct BadLineTests {
    /// Answers are held back first, so that the broker has taken messages that this side does not know it has.
    @Test(
        "a line that breaks loses nothing, with distinct or equal messages, at every requested quality",
        arguments: [1, 2], [true, false])
    func cuts(requested: Int, isNumbered: Bool) async throws {
        let broker = try await TestBroker()
        let observer = try await broker.observe("t")
        let relay = try CuttingRelay(to: broker.address)
        defer { relay.stop() }
        let station = try await Station(at: relay.address) { $0.presenceTopic = try Topic("presence") }
        try await station.waitUntilConnected()
        let qos = try #require(QoS(requested: requested))
        let count = 600
        for round in 0..<4 {
            let before = await station.messenger.status().acknowledged
            for number in 0..<150 {
                try await station.publish(isNumbered ? "\(round * 150 + number)" : "same", to: "t", qos: qos)
            }
            try await until { await station.messenger.status().acknowledged > before }
            relay.holdAnswers()
            for number in 0..<10 where round == 3 { try await station.publish("last \(number)", to: "t", qos: qos) }
            relay.cut()
        }
        try await station.publish("end", to: "t", qos: qos)
        var arrived: [String] = []
        for await message in observer.messages {
            arrived.append(message.payload)
            if message.payload == "end" { break }
        }
        let texts = arrived.filter { $0 != "end" && !$0.hasPrefix("last") }
        if isNumbered {
            #expect(Set(texts) == Set((0..<count).map { "\($0)" }))
        } else {
            #expect(texts.count >= count)
        }
        #expect(Set(arrived.filter { $0.hasPrefix("last") }).count == 10)
        let status = await station.outbox.status()
        #expect((status.dropped.total, status.deadLetters) == (0, 0))
    }

    /// The cap is beyond the time limit: only delays that begin anew after progress get all of it across.
    @Test("a line that keeps breaking after some kilobytes repeats little, and the delay does not grow")
    func repetitions() async throws {
        let broker = try await TestBroker()
        let observer = try await broker.observe("t")
        let relay = try CuttingRelay(to: broker.address, bytesUntilCut: 1500)
        defer { relay.stop() }
        let station = try await Station(at: relay.address, running: false) {
            $0.presenceTopic = try Topic("presence")
            $0.backoff = Backoff(initial: .milliseconds(100), cap: .seconds(1000))
        }
        let count = 200
        try await station.outbox.accept(
            (0..<count).map { number in
                OutgoingMessage(
                    topic: try Topic("t"), payload: Array("\(number) \(String(repeating: "x", count: 80))".utf8))
            })
        station.run()
        var arrived: [String] = []
        for await message in observer.messages {
            arrived.append(message.payload)
            if Set(arrived).count == count { break }
        }
        try await station.waitUntilSent()
        // The first connection has a whole window under way; the others no more than was acknowledged on them before.
        #expect(arrived.count < 2 * count, "\(arrived.count) arrived")
        #expect(relay.accepted > 13)
        #expect(await station.outbox.status().deadLetters == 0)
    }

    /// Doubled each time, the delay would be longer from the second one on.
    @Test("a connection that had lasted is made again soon, however often it breaks and although nothing was sent")
    func steady() async throws {
        let broker = try await TestBroker()
        let relay = try CuttingRelay(to: broker.address)
        defer { relay.stop() }
        let station = try await Station(at: relay.address, running: false) {
            $0.backoff = Backoff(initial: .milliseconds(100), cap: .seconds(1000))
            $0.steadyAfter = .milliseconds(50)
        }
        let events = station.messenger.events.subscribe()
        station.run()
        for _ in 0..<4 {
            try await until {
                let status = await station.messenger.status()
                return status.state == .connected && Date().timeIntervalSince(status.since) > 0.1
            }
            relay.cut()
            let delay = await Station.first(of: events) { if case .failed(_, let delay) = $0 { delay } else { nil } }
            #expect(try #require(delay) <= .milliseconds(100))
        }
        try await station.stop()
    }

    /// Both reach the messenger at once, as the disk keeps its thread.
    @Test("a line that breaks while the disk fails is made again, and loses nothing")
    func diskFails() async throws {
        let broker = try await TestBroker()
        var policy = OutboxPolicy()
        policy.spill = .zero
        let station = try await Station(at: broker.address, policy: policy)
        // The first one has the ages of those that wait looked at.
        try await station.publish("first", to: "t")
        try await station.waitUntilSent()
        let connection = try #require(await station.messenger.connection)
        let killBroker = broker.killing
        await station.outbox.failPage {
            // The messenger waits, and takes what comes first; it cannot go on.
            connection.post { _ in }
            // Here, as a task of the test may wait for what waits for this thread, which all messengers share.
            killBroker()
            var hasEnded = false
            let limit = ContinuousClock.now + .seconds(10)
            while !hasEnded, .now < limit {
                connection.post { hasEnded = $0.ending != nil }
                usleep(1000)
            }
        }
        try await station.publish("x", to: "t")
        try await until { await station.messenger.status().lastError != nil }
        try await broker.start()
        try await station.waitUntilSent()
        try await station.stop()
    }

    @Test("after a line broke, sending restarts with one message and doubles with each acknowledgement")
    func slowStart() async throws {
        var pace = SendPace(limit: 100)
        #expect(pace.connectionEnded(with: .init(cause: .hangUp, underWay: Array(1...50))) == nil)
        #expect(pace.window == 1)
        pace.acknowledge([1])
        #expect(pace.window == 2)
        pace.acknowledge(Array(2...3))
        #expect(pace.window == 4)
        pace.acknowledge(Array(4...200))
        #expect(pace.window == 100)
    }
}
