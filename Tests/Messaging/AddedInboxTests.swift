import Foundation
import Groundwork
import Testing

@testable import Messaging

@Suite("Inboxes that are added", .timeLimit(.minutes(5)))
struct AddedInboxTests {
    private let bench: Bench

    init() throws { bench = try Bench() }

    private func policy(_ name: String, _ filter: String, limitMessages: Int = 1000) throws -> InboxPolicy {
        InboxPolicy(
            name: name, filter: try TopicFilter(filter), qos: .atMostOnce, limitBytes: 100_000,
            limitMessages: limitMessages, maxAge: .seconds(7200), takesRetained: true)
    }

    private func open(_ policies: [InboxPolicy] = [], owner: String = "device") async throws -> InboxStore {
        try await InboxStore.open(at: bench.path("inbox.db"), owner: owner, policies: policies)
    }

    private func message(_ text: String, topic: String) -> IncomingMessage {
        IncomingMessage(
            topic: topic, payload: Array(text.utf8), qos: .atLeastOnce, retained: false, receivedAt: Date())
    }

    @Test("an added inbox is there again after a restart, until it is removed with its messages")
    func kept() async throws {
        let (a, b) = (try policy("a", "t/#"), try policy("b", "u", limitMessages: 2))
        let first = try await open([try policy("own", "v")])
        #expect(try await first.add(a))
        #expect(try await first.add(b))
        #expect(try await !first.add(a))
        try await first.keep([message("1", topic: "t/x"), message("2", topic: "u")])

        let again = try await open([try policy("own", "v")])
        #expect(again.added == [a, b])
        #expect(Set(again.filters.keys.map(\.text)) == ["t/#", "u", "v"])
        let statuses = try await again.statuses()
        #expect(statuses.map(\.name) == ["own", "a", "b"] && statuses.map(\.isAdded) == [false, true, true])
        #expect(statuses.map(\.unread) == [0, 1, 1])
        let removed = try #require(try await again.remove("a"))
        #expect(removed.messages == 1 && removed.inbox == a)
        await #expect(throws: MessagingError.noSuchInbox("a")) { try await again.page(of: "a") }
        #expect(try await again.remove("own") == nil)

        // What is no longer there is ended at the broker.
        let last = try await open()
        #expect(last.added == [b])
        #expect(last.formerFilters.map(\.text).sorted() == ["t/#", "v"])
    }

    @Test("an added inbox is refused under a name that is taken, and beyond the number allowed")
    func refused() async throws {
        let store = try await open([try policy("own", "v")])
        await #expect(throws: MessagingError.inboxExists("own")) { try await store.add(try policy("own", "w")) }
        #expect(try await !store.add(try policy("own", "v")))
        for number in 0..<InboxStore.addedLimit { #expect(try await store.add(try policy("n\(number)", "t"))) }
        await #expect(throws: MessagingError.tooManyInboxes(limit: 32)) { try await store.add(try policy("more", "t")) }
        await #expect(throws: MessagingError.inboxExists("n0")) { try await store.add(try policy("n0", "u")) }
    }

    @Test("removed inboxes leave only so many filters behind while nobody can tell the broker")
    func former() async throws {
        let store = try await open()
        _ = try await store.add(try policy("stays", "s"))
        for number in 0..<InboxStore.formerLimit {
            _ = try await store.add(try policy("n", "t/\(number)"))
            _ = try await store.remove("n")
        }
        let refusal = MessagingError.tooManyFormerInboxes(limit: 256)
        await #expect(throws: refusal) { try await store.add(try policy("n", "another")) }
        await store.close()
        let again = try await open()
        #expect(again.formerFilters.count == InboxStore.formerLimit)
        await #expect(throws: refusal) { try await again.add(try policy("n", "another")) }
        // One of them, or after the broker has answered for one.
        #expect(try await again.add(try policy("n", "t/7")))
        _ = try await again.remove("n")
        await again.forgetFormerFilter(try TopicFilter("t/9"))
        #expect(try await again.add(try policy("n", "another")))
    }

    @Test("an added inbox becomes the settings' once those have its name, and ends with its identity")
    func takenOver() async throws {
        let first = try await open()
        _ = try await first.add(try policy("a", "t"))
        _ = try await first.add(try policy("b", "u"))
        try await first.keep([message("1", topic: "t")])
        let own = try policy("a", "t/new")
        let second = try await open([own])
        #expect(second.policies == [own, try policy("b", "u")])
        #expect(try await second.page(of: "a").map(\.message.text) == ["1"])
        let third = try await open()
        #expect(third.added.map(\.name) == ["b"])
        #expect(try await open(owner: "another").added.isEmpty)
    }

    @Test("an added inbox is subscribed and ended while there is a connection, and other subscriptions stay")
    func connected() async throws {
        let broker = try await TestBroker()
        let station = try await Station(at: broker.address)
        try await station.waitUntilConnected()
        let reader = try await station.messenger.subscribe("t/a")
        let store = try await open()
        await station.messenger.attach(store)
        let added = try policy("a", "t/+")
        _ = try await store.add(added)
        try await station.messenger.begin(added)
        var arrivals = store.arrivals.subscribe().makeAsyncIterator()
        try await broker.publish("1", to: "t/a")
        #expect(await arrivals.next() == "a")
        #expect(await reader.texts(1) == ["1"])
        #expect(try await store.page(of: "a").map(\.message.text).first == "1")

        _ = try await store.remove("a")
        await station.messenger.end(added)
        // The broker answers in order: with this answer it has let go of the other.
        _ = try await station.messenger.subscribe("v")
        try await broker.publish("2", to: "t/a")
        #expect(await reader.texts(1) == ["2"])
        #expect(await station.messenger.established.contains(added.filter) == false)
    }
}
