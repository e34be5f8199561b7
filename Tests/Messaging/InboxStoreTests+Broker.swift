import Groundwork
import Storage
import TestSupport
import Testing

@testable import Messaging

/// Inboxes of a messenger at a broker.
extension InboxStoreTests {
    @Test("a message that an inbox cannot keep is not acknowledged, so the broker sends it again")
    func unkept() async throws {
        let broker = try await TestBroker()
        let closed = try await open([try policy()])
        let first = try await Station(at: broker.address, clientID: "board", inboxes: closed)
        try await until { await first.messenger.established.count == 1 }
        await closed.close()
        let events = first.messenger.events.subscribe()
        try await broker.publish("1", to: "t/a")
        let failure = await Station.first(of: events) { if case .failed(let error, _) = $0 { error } else { nil } }
        #expect(failure == .inboxUnusable(.closed(path: bench.path("inbox.db"))))
        try await first.stop()
        let store = try await open([try policy()])
        let second = try await Station(at: broker.address, clientID: "board", inboxes: store)
        try await broker.publish("2", to: "t/a")
        try await until { try await texts(in: store) == ["1", "2"] }
        try await second.stop()
    }

    @Test("inbox messages are kept without reader and connection, and live readers get them too")
    func standing() async throws {
        let secure = try await SecureBroker()
        let store = try await open([try policy()])
        let credentials = try secure.credentials()
        let first = try await Station(at: secure.broker.address, inboxes: store, credentials: { _ in credentials })
        try await until { await first.messenger.established.count == 1 }
        let reader = try await first.messenger.subscribe("t/b")
        let sender = try await Station(
            at: secure.broker.address,
            credentials: { _ in
                BrokerCredentials(clientID: "sender", userName: nil, password: nil, tls: credentials.tls)
            })
        for number in 1...300 { try await sender.publish("\(number)", to: "t/b") }
        #expect(await reader.texts(1) == ["1"])
        try await until { try await store.statuses()[0].unread >= 300 }
        reader.finish()
        try await first.stop()
        try await sender.publish("after", to: "t/b")
        try await sender.waitUntilSent()
        let second = try await Station(at: secure.broker.address, inboxes: store, credentials: { _ in credentials })
        try await until { try await texts(in: store, from: 300).contains("after") }
        #expect(await second.messenger.status().unclaimed == 0)
    }

    private func texts(in store: InboxStore, from id: Int64) async throws -> [String] {
        try await store.page(of: "orders", after: id).map(\.message.text)
    }

    @Test("the broker ends subscriptions that the settings no longer have, and retained messages come once")
    func formerFilters() async throws {
        let broker = try await TestBroker()
        try await broker.publish("retained", to: "t/r", arguments: ["-r"])
        let before = try await open([try policy(), try policy("state", "t/r", takesRetained: true)])
        let first = try await Station(at: broker.address, inboxes: before)
        // Once for each of the two filters that match: a copy left unacknowledged would come to the next session.
        try await until { await first.messenger.status().received == 2 }
        #expect(try await texts(in: before, of: "state").contains("retained"))
        #expect(try await texts(in: before) == [])
        try await first.stop()
        await before.close()
        let after = try await open([try policy("others", "u")])
        #expect(after.formerFilters.count == 2)
        let second = try await Station(at: broker.address, inboxes: after)
        try await until { await second.messenger.established.map(\.text) == ["u"] }
        #expect(after.formerFilters == [])
        try await broker.publish("1", to: "t/a")
        try await broker.publish("2", to: "u")
        try await until { try await texts(in: after, of: "others") == ["2"] }
        // Messages are counted once they are kept.
        try await second.stop()
        #expect(await second.messenger.status().received == 1)
        await after.close()
        #expect(try await open([try policy("others", "u")]).formerFilters == [])
    }
}
