import Foundation
import Groundwork
import Testing

@testable import Messaging

@Suite("Retained messages", .timeLimit(.minutes(5)))
struct RetainedTests {
    private func connected() async throws -> (TestBroker, Station) {
        let broker = try await TestBroker()
        let station = try await Station(at: broker.address)
        try await station.waitUntilConnected()
        return (broker, station)
    }

    @Test("each subscriber gets a retained message once, whoever subscribes later, and to what")
    func once() async throws {
        let (broker, station) = try await connected()
        try await broker.publish("kept", to: "t", arguments: ["-r"])
        var all = [try await station.messenger.subscribe("t")]
        #expect(await all[0].texts(1) == ["kept"])
        for (filter, number) in [("t", 1), ("#", 2), ("t", 3)] {
            let other = try await station.messenger.subscribe(filter)
            let found = await other.next(1).messages
            #expect(found.map(\.text) == ["kept"] && found[0].retained)
            all.append(other)
            // Not retained: the broker goes on to send the one before it to those who come.
            try await broker.publish("\(number)", to: "t")
            for subscription in all { #expect(await subscription.texts(1) == ["\(number)"]) }
        }
    }

    @Test("a retained message that came while its subscriber listened does not come again")
    func live() async throws {
        let (broker, station) = try await connected()
        let first = try await station.messenger.subscribe("t")
        try await broker.publish("kept", to: "t", arguments: ["-r"])
        #expect(await first.texts(1) == ["kept"])
        let late = try await station.messenger.subscribe("t")
        #expect(await late.texts(1) == ["kept"])
        try await broker.publish("after", to: "t")
        #expect(await first.texts(1) == ["after"])
    }

    @Test("a retained message comes again if another of its topic may have been missed, or if it is another")
    func again() {
        var recent = RecentMessages()
        var number = 0
        func note(_ text: String, retained: Bool = true) -> Int {
            number += 1
            var message = IncomingMessage(
                topic: "t", payload: Array(text.utf8), qos: .atLeastOnce, retained: retained, receivedAt: Date())
            message.number = number
            return recent.note(message)
        }
        #expect(note("1") == 0)
        #expect(note("2", retained: false) == 0)
        #expect(note("1") == 1)
        #expect(note("2", retained: false) == 0)
        recent.connectionBegins()
        #expect(note("1") == 0)
        #expect(note("2") == 0)
        #expect(note("2") == 6)
        #expect(note("2", retained: false) == 0)
    }

    @Test("topics beyond a limit are forgotten, and cost a repetition")
    func bound() {
        var recent = RecentMessages()
        func note(_ topic: Int) -> Int {
            var message = IncomingMessage(
                topic: "\(topic)", payload: [1], qos: .atLeastOnce, retained: true, receivedAt: Date())
            message.number = topic
            return recent.note(message)
        }
        for topic in 1...RecentMessages.limit { #expect(note(topic) == 0) }
        #expect(note(1) == 1)
        #expect(note(RecentMessages.limit + 1) == 0)
        #expect(note(1) == 0)
    }
}
