import Foundation
import Groundwork
import Synchronization
import Testing

@testable import Messaging

@Suite("Receiving messages", .timeLimit(.minutes(5)))
struct ReceivingTests {
    @Test("the messenger delivers messages to their subscribers, in order")
    func delivery() async throws {
        let broker = try await TestBroker()
        let station = try await Station(at: broker.address, running: false)
        let early = try await station.messenger.subscribe("a/+")
        station.run()
        try await station.waitUntilConnected()
        let late = try await station.messenger.subscribe("#")
        let sender = try await Station(at: broker.address, clientID: "sender")
        for number in 0..<100 { try await sender.publish("\(number)", to: number % 2 == 0 ? "a/x" : "b") }
        #expect(Set(await late.texts(100)) == Set((0..<100).map { "\($0)" }))
        #expect(await early.texts(50).first == "0")
    }

    @Test("the messenger decodes envelopes and delivers anything else raw (MAG checklist 40)")
    func envelopes() async throws {
        let broker = try await TestBroker()
        let station = try await Station(at: broker.address)
        try await station.waitUntilConnected()
        let mine = try await station.messenger.subscribe("t")
        try await broker.publish(
            #"{"SenderId":"bob","SentTime":1767225600000,"Payload":"aGk=","SenderType":"user"}"#, to: "t")
        try await broker.publish("plain", to: "t", arguments: ["-r"])
        let found = await mine.next(2).messages
        #expect(found[0].envelope?.payload == Array("hi".utf8))
        #expect(found[0].envelope?.senderType == "USER")
        #expect(found[1].envelope == nil)
        #expect(found[1].payload == Array("plain".utf8))
        #expect(found[1].qos == .atLeastOnce)
    }

    @Test("the messenger receives messages sent while it was disconnected")
    func persistentSession() async throws {
        let broker = try await TestBroker()
        let first = try await Station(at: broker.address, clientID: "board")
        try await first.waitUntilConnected()
        let subscription = try await first.messenger.subscribe("t")
        try await first.stop()
        subscription.finish()
        for number in 0..<20 { try await broker.publish("\(number)", to: "t") }
        let second = try await Station(at: broker.address, clientID: "board", running: false)
        let again = try await second.messenger.subscribe("t")
        let events = second.messenger.events.subscribe()
        second.run()
        #expect(await again.texts(20) == (0..<20).map { "\($0)" })
        #expect(await Station.first(of: events) { if case .connected(_, let kept) = $0 { kept } else { nil } } == true)
    }

    @Test("the messenger subscribes again when the broker has forgotten the session")
    func forgottenSession() async throws {
        let broker = try await TestBroker()
        let station = try await Station(at: broker.address)
        try await station.waitUntilConnected()
        let mine = try await station.messenger.subscribe("t")
        let events = station.messenger.events.subscribe()
        broker.kill()
        let names = try FileManager.default.contentsOfDirectory(atPath: broker.bench.directory.path)
        for name in names where name.hasSuffix(".db") {
            try FileManager.default.removeItem(atPath: broker.bench.path(name))
        }
        try await broker.start()
        #expect(await Station.first(of: events) { if case .connected(_, let kept) = $0 { kept } else { nil } } == false)
        try await until { await station.messenger.established.count == 1 }
        try await broker.publish("after", to: "t")
        #expect(await mine.texts(1) == ["after"])
    }

    @Test("the messenger is not held up by a subscriber that does not read, which learns what it missed")
    func slowSubscriber() async throws {
        let broker = try await TestBroker()
        let station = try await Station(at: broker.address)
        try await station.waitUntilConnected()
        let slow = try await station.messenger.subscribe("t", bound: 10)
        let quick = try await station.messenger.subscribe("t", bound: 1000)
        let sender = try await Station(at: broker.address, clientID: "sender")
        for number in 0..<500 { try await sender.publish("\(number)", to: "t") }
        #expect(await quick.texts(500) == (0..<500).map { "\($0)" })
        // The last one may reach the quick one first: when another message is here, both have it.
        let after = try await station.messenger.subscribe("u")
        try await sender.publish("after", to: "u")
        #expect(await after.texts(1) == ["after"])
        let late = await slow.next(10)
        #expect(late.lost == 490)
        #expect(late.messages.map(\.text) == (490..<500).map { "\($0)" })
    }

    @Test("a taker gets messages where they arrive, and refused ones wait in order with all after them")
    func taker() async throws {
        let inbox = Inbox(payloadLimit: .max)
        let subscription = inbox.subscribe(try TopicFilter("#"), qos: .atLeastOnce, bound: 4) {}
        let taken = Mutex([Int]())
        let takes = Mutex(true)
        subscription.deliver { messages in
            guard takes.withLock({ $0 }) else { return false }
            taken.withLock { $0 += messages.map(\.number) }
            return true
        }
        func arrive(_ count: Int) {
            inbox.deliver(
                (0..<count).map { _ in
                    IncomingMessage(
                        topic: "t", payload: [], qos: .atLeastOnce, retained: false,
                        receivedAt: Date(timeIntervalSince1970: 0))
                })
        }
        arrive(2)
        arrive(1)
        #expect(taken.withLock { $0 } == [1, 2, 3])
        takes.withLock { $0 = false }
        arrive(1)
        takes.withLock { $0 = true }
        // It may take again, but not before what waits, nor while the reader is at work on that.
        arrive(5)
        var reader = subscription.makeAsyncIterator()
        let first = await reader.next()
        #expect(first?.lost == 2 && first?.messages.map(\.number) == [6, 7, 8, 9])
        arrive(1)
        #expect(taken.withLock { $0 } == [1, 2, 3])
        #expect(await reader.next()?.messages.map(\.number) == [10])
        // Once it waits for more, they are taken again.
        let end = Task { for await _ in subscription {} }
        while taken.withLock({ $0.last == 3 }) {
            try Task.checkCancellation()
            arrive(1)
            await Task.yield()
        }
        subscription.finish()
        await end.value
        #expect(taken.withLock { $0.last } == inbox.counts.received)
    }

    @Test("messages that wait for a subscriber are bounded in number and bytes, whatever arrives together")
    func bounds() async throws {
        let inbox = Inbox(payloadLimit: .max)
        let few = inbox.subscribe(try TopicFilter("#"), qos: .atLeastOnce, bound: 7) {}
        let many = inbox.subscribe(try TopicFilter("t/#"), qos: .atLeastOnce, bound: 10_000) {}
        func messages(_ count: Int, _ bytes: Int, topic: String = "t") -> [IncomingMessage] {
            (0..<count).map { _ in
                IncomingMessage(
                    topic: topic, payload: [UInt8](repeating: 0x61, count: bytes), qos: .atLeastOnce, retained: false,
                    receivedAt: Date(timeIntervalSince1970: 0))
            }
        }
        // In parcels of which the bounds cut the first that is left.
        for _ in 0..<600 { inbox.deliver(messages(5, 1000)) }
        let (last, lost) = await few.next(7)
        #expect(last.map(\.number) == Array(2994...3000) && lost == 2993)
        let newest = try #require(await first(of: many))
        #expect(newest.lost > 2000 && newest.messages.first?.number == newest.lost + 1)
        let kept = await many.next(3000 - newest.lost - newest.messages.count)
        #expect(kept.lost == 0 && kept.messages.last?.number == 3000)
        #expect((newest.messages.count + kept.messages.count) * 1000 <= Subscription.byteLimit)

        // Larger than all that may wait: it is kept alone until the next one comes.
        inbox.deliver(messages(3, 1000) + messages(1, Subscription.byteLimit))
        let large = try #require(await first(of: many))
        #expect(large.lost == 3 && large.messages.map(\.number) == [3004])
        inbox.deliver(messages(1, Subscription.byteLimit))
        inbox.deliver(messages(2, 0))
        let small = try #require(await first(of: many))
        #expect(small.lost == 1 && small.messages.map(\.number) == [3006, 3007])
        inbox.deliver(messages(1, 0, topic: "u"))
        #expect(inbox.counts.received == 3008 && inbox.counts.unclaimed == 0)
    }

    private func first(of subscription: Subscription) async -> Delivery? {
        for await delivery in subscription { return delivery }
        return nil
    }

    @Test("the messenger reports a subscription that the broker refuses")
    func refusedSubscription() async throws {
        let bench = try Bench()
        let rules = try bench.write(
            """
            {"defaultACLAccess": {"publishClientSend": true, "publishClientReceive": true, "subscribe": false,
              "unsubscribe": true}, "clients": [], "anonymousGroup": "all",
             "groups": [{"groupname": "all", "roles": [{"rolename": "open"}]}],
             "roles": [{"rolename": "open", "acls": [{"acltype": "subscribePattern", "topic": "open/#", "allow": true}]}]}
            """, to: "rules.json")
        let broker = try await TestBroker(
            .init(lines: [
                "allow_anonymous true", "plugin \(try TestBroker.dynamicSecurity)", "plugin_opt_config_file \(rules)",
            ]), bench: bench)
        let station = try await Station(at: broker.address, running: false) {
            $0.reportTopic = try Topic("closed/error")
        }
        let events = station.messenger.events.subscribe()
        station.run()
        try await station.waitUntilConnected()
        await #expect(throws: MessagingError.subscriptionRefused(try TopicFilter("closed/#"))) {
            _ = try await station.messenger.subscribe("closed/#")
        }
        _ = try await station.messenger.subscribe("open/#")
        // That there are no reports of errors, which nobody asked for, is no trouble.
        let refused = await Station.first(of: events) {
            if case .subscriptionRefused(let filter) = $0 { filter.text } else { nil }
        }
        #expect(refused == "closed/#")
    }

    @Test("the messenger gets the broker's reports of errors for as long as it is connected, whoever reads")
    func reports() async throws {
        let broker = try await TestBroker()
        let station = try await Station(at: broker.address, clientID: "board") {
            $0.reportTopic = try Topic("own/error")
        }
        var events = station.messenger.messages.subscribe().makeAsyncIterator()
        try await until { await !station.messenger.established.isEmpty }
        try await broker.publish(#"{"message":"not passed on"}"#, to: "own/error")
        #expect(await events.next() == .brokerReported(topic: "own/error", text: "not passed on"))
        try await broker.publish("another", to: "own/error")
        #expect(await events.next() == .brokerReported(topic: "own/error", text: "another"))
        let status = await station.messenger.status()
        #expect(status.reports == 2 && status.lastReport?.text == "another" && status.unclaimed == 0)
        try await station.stop()

        // A session that goes on has no reports of what was said in the one before.
        try await broker.publish("late", to: "own/error")
        let next = try await Station(at: broker.address, clientID: "board", running: false)
        let mine = try await next.messenger.subscribe("t")
        next.run()
        try await until { await next.messenger.established.map(\.text) == ["t"] }
        try await broker.publish("end", to: "t")
        #expect(await mine.texts(1) == ["end"])
        #expect(await next.messenger.status().received == 1)
    }

    @Test("the messenger unsubscribes a filter at the broker when its last subscriber is gone")
    func unsubscribing() async throws {
        let broker = try await TestBroker()
        let station = try await Station(at: broker.address)
        try await station.waitUntilConnected()
        let one = try await station.messenger.subscribe("t")
        let two = try await station.messenger.subscribe("t")
        let all = try await station.messenger.subscribe("u")
        one.finish()
        try await broker.publish("still", to: "t")
        #expect(await two.texts(1) == ["still"])
        two.finish()
        try await until { await station.messenger.established == [try TopicFilter("u")] }
        // The broker answers in order: with this answer it has let go of the other.
        _ = try await station.messenger.subscribe("v")
        try await broker.publish("gone", to: "t")
        try await broker.publish("end", to: "u")
        #expect(await all.texts(1) == ["end"])
        let status = await station.messenger.status()
        #expect((status.received, status.unclaimed) == (2, 0))
    }

    @Test("the messenger ends a subscription with the task that reads it")
    func cancellation() async throws {
        let broker = try await TestBroker()
        let station = try await Station(at: broker.address)
        try await station.waitUntilConnected()
        let mine = try await station.messenger.subscribe("t")
        let reader = Task { for await _ in mine {} }
        reader.cancel()
        await reader.value
        try await until { await station.messenger.established.isEmpty }
    }

    @Test("the messenger discards payloads beyond the limit, and counts them")
    func oversized() async throws {
        let broker = try await TestBroker()
        let station = try await Station(at: broker.address) { $0.payloadLimit = 10 }
        try await station.waitUntilConnected()
        let mine = try await station.messenger.subscribe("t")
        try await broker.publish("12345678901", to: "t")
        try await broker.publish("1234567890", to: "t")
        #expect(await mine.texts(1) == ["1234567890"])
        #expect(await station.messenger.status().oversized == 1)
    }
}
