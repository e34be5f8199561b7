import Foundation
import Testing

@testable import Messaging

@Suite("Publishing messages", .timeLimit(.minutes(5)))
struct PublishingTests {
    @Test("the messenger brings messages of each quality of service to other clients", arguments: QoS.allCases)
    func qualities(_ qos: QoS) async throws {
        let broker = try await TestBroker()
        let observer = try await broker.observe("t/#")
        let station = try await Station(at: broker.address)
        for number in 0..<50 { try await station.publish("\(number)", to: "t/\(qos)", qos: qos) }
        let found = await observer.first(50)
        #expect(found.map(\.payload) == (0..<50).map { "\($0)" })
        #expect(found.allSatisfy { $0.qos == qos.rawValue && $0.topic == "t/\(qos)" && !$0.retained })
        try await station.waitUntilSent()
        let status = await station.messenger.status()
        #expect((status.sent, status.acknowledged, status.outbox.delivered) == (50, 50, 50))
    }

    @Test("the messenger leaves a retained message for later clients")
    func retain() async throws {
        let broker = try await TestBroker()
        let station = try await Station(at: broker.address)
        try await station.publish("kept", to: "t", retain: true)
        try await station.waitUntilSent()
        let observer = try await broker.observe("t")
        #expect(await observer.first() == [.init(topic: "t", qos: 1, retained: true, payload: "kept")])
    }

    @Test("the messenger keeps the order of a topic when its messages mix qualities of service")
    func mixedQualities() async throws {
        let broker = try await TestBroker()
        // At QoS 0 it sees the order in which the broker took the messages over.
        let observer = try await broker.observe("t", qos: 0)
        let station = try await Station(at: broker.address, running: false)
        for number in 0..<300 {
            try await station.publish("\(number)", to: "t", qos: QoS(requested: number / 2 % 3) ?? .atLeastOnce)
        }
        station.run()
        #expect(await observer.first(300).map(\.payload) == (0..<300).map { "\($0)" })
    }

    @Test("the messenger publishes online while connected and offline when it ends, both retained")
    func presence() async throws {
        let broker = try await TestBroker()
        let observer = try await broker.observe("status")
        let station = try await Station(at: broker.address) { $0.presenceTopic = try Topic("status") }
        #expect(await observer.first().map(\.payload) == ["online"])
        try await station.stop()
        #expect(await observer.first().map(\.payload) == ["offline"])
        #expect(await station.messenger.status().state == .stopped)
        let later = try await broker.observe("status")
        #expect(await later.first() == [.init(topic: "status", qos: 1, retained: true, payload: "offline")])
    }

    @Test("the messenger leaves offline as its last will when it vanishes")
    func will() async throws {
        let broker = try await TestBroker()
        let observer = try await broker.observe("status")
        // A client of the same identifier makes the broker cut the first one off.
        let station = try await Station(at: broker.address, clientID: "same") { $0.presenceTopic = try Topic("status") }
        #expect(await observer.first().map(\.payload) == ["online"])
        let rival = try Program(
            "/usr/bin/mosquitto_sub",
            [
                "-p", "\(broker.address.port)", "-i", "same", "-t", "x", "-d", "-E",
            ])
        _ = await rival.firstLine(containing: "Subscribed")
        #expect(await observer.first().map(\.payload) == ["offline"])
        try await station.stop()
    }

    @Test("the messenger loses nothing and keeps the order of each topic when the broker disappears midway")
    func brokerRestarts() async throws {
        let broker = try await TestBroker(.keepingAll)
        let observer = try await broker.observe("t/#")
        let station = try await Station(at: broker.address)
        try await station.waitUntilConnected()
        let count = 900
        async let publishing: Void = {
            for number in 0..<count { try await station.publish("\(number)", to: "t/\(number % 3)") }
        }()
        try await until { await station.messenger.status().acknowledged > 300 }
        broker.stop()
        try await until { await station.messenger.status().state != .connected }
        try await broker.start()
        try await publishing
        try await station.waitUntilSent()
        var newest = [-1, -1, -1]
        var seen: Set<Int> = []
        for await message in observer.messages {
            let number = try #require(Int(message.payload))
            let topic = number % 3
            // What comes again is a repetition of the newest, never something that was overtaken.
            if seen.insert(number).inserted {
                #expect(number == (newest[topic] < 0 ? topic : newest[topic] + 3))
                newest[topic] = number
            }
            if seen.count == count { break }
        }
        #expect(seen.count == count)
        let status = await station.messenger.status()
        #expect((status.outbox.accepted, status.outbox.delivered, status.outbox.dropped.total) == (count, count, 0))
    }

    @Test("the messenger sends after a restart what it could not send before")
    func outboxSurvives() async throws {
        let broker = try await TestBroker()
        let observer = try await broker.observe("t")
        let bench = try Bench()
        do {
            let station = try await Station(at: broker.address, bench: bench, running: false)
            for number in 0..<20 { try await station.publish("\(number)", to: "t") }
            await station.outbox.close()
        }
        let station = try await Station(at: broker.address, bench: bench)
        #expect(await observer.first(20).map(\.payload) == (0..<20).map { "\($0)" })
        try await station.waitUntilSent()
    }

    @Test("the messenger sends a backlog through a narrow window", arguments: [1, 3])
    func window(_ window: Int) async throws {
        let broker = try await TestBroker()
        let observer = try await broker.observe("t")
        let station = try await Station(at: broker.address, running: false) { $0.window = window }
        try await station.outbox.accept(
            (0..<200).map { OutgoingMessage(topic: try Topic("t"), payload: Array("\($0)".utf8)) })
        station.run()
        #expect(await observer.first(200).map(\.payload) == (0..<200).map { "\($0)" })
    }

    @Test("the messenger works without a disk if configured")
    func memory() async throws {
        let broker = try await TestBroker()
        let observer = try await broker.observe("t")
        let station = try await Station(at: broker.address, durability: .memory)
        for number in 0..<200 { try await station.publish("\(number)", to: "t") }
        #expect(await observer.first(200).map(\.payload) == (0..<200).map { "\($0)" })
        try await station.waitUntilSent()
    }
}
