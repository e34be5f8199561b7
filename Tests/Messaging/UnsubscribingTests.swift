import Foundation
import Testing

@testable import Messaging

@Suite("Subscriptions that are no longer wanted", .timeLimit(.minutes(5)))
struct UnsubscribingTests {
    /// Ends the first connections with the request to unsubscribe, and answers the one on the third.
    private static let script = """
        for attempt in range(1, 5):
            client = accept()
            packet(client)
            client.sendall(connack(1))
            try:
                while True:
                    kind, content = packet(client)
                    if kind == 0xA2:
                        print("connection", attempt, "unsubscribes", content[4:].decode())
                        if attempt < 3: break
                        client.sendall(bytes([0xB0, 2, *content[:2]]))
                    if kind == 0x82: client.sendall(bytes([0x90, 3, *content[:2], 1]))
                    # Answered in order: it has read the one before.
                    if kind == 0x32:
                        client.sendall(bytes([0x40, 2, *content[3:5]]))
                        print("connection", attempt, "published")
                        break
            except (EOFError, OSError): pass
            client.close()
        """

    private func policy(_ filter: String) throws -> InboxPolicy {
        InboxPolicy(
            name: "orders", filter: try TopicFilter(filter), limitBytes: 1 << 20, limitMessages: 10,
            maxAge: .seconds(60))
    }

    @Test("unwanted subscriptions are ended until the broker has answered, across connections and restarts")
    func answered() async throws {
        let bench = try Bench()
        func open() async throws -> InboxStore {
            try await InboxStore.open(at: bench.path("inbox.db"), owner: "device", policies: [try policy("u")])
        }
        await (try await InboxStore.open(at: bench.path("inbox.db"), owner: "device", policies: [try policy("t")]))
            .close()

        let broker = try await ScriptedBroker(Self.script)
        var lines = broker.program.lines.makeAsyncIterator()
        let first = try await open()
        #expect(first.formerFilters.map(\.text) == ["t"])
        let before = try await Station(at: broker.address, inboxes: first)
        #expect(await lines.next() == "connection 1 unsubscribes t")
        #expect(await lines.next() == "connection 2 unsubscribes t")
        #expect(await lines.next() == "connection 3 unsubscribes t")
        try await until { await before.messenger.established.map(\.text) == ["u"] }
        try await before.publish("x", to: "t")
        #expect(await lines.next() == "connection 3 published")
        try await before.waitUntilConnected()
        try await before.publish("x", to: "t")
        #expect(await lines.next() == "connection 4 published")
        try await before.stop()
        await first.close()
        let second = try await open()
        #expect(second.formerFilters == [])
        await second.close()
    }

    @Test("unwanted subscriptions are remembered by the next start when the broker has not answered")
    func remembered() async throws {
        let bench = try Bench()
        func open(_ filter: String) async throws -> InboxStore {
            try await InboxStore.open(at: bench.path("inbox.db"), owner: "device", policies: [try policy(filter)])
        }
        await (try await open("t")).close()
        let broker = try await ScriptedBroker(
            """
            client = accept()
            packet(client)
            client.sendall(connack(1))
            while packet(client)[0] != 0xA2: pass
            print("asked")
            try:
                while True: packet(client)
            except (EOFError, OSError): pass
            """)
        let store = try await open("u")
        let station = try await Station(at: broker.address, inboxes: store)
        _ = await broker.program.firstLine(containing: "asked")
        try await station.waitUntilConnected()
        try await station.stop()
        await store.close()
        #expect(try await open("u").formerFilters.map(\.text) == ["t"])
    }

    @Test("unwanted subscriptions that are wanted again before an answer are made on the next connection")
    func again() async throws {
        let broker = try await ScriptedBroker(
            """
            for attempt in range(1, 3):
                client = accept()
                packet(client)
                client.sendall(connack(1))
                asked = False
                while True:
                    kind, content = packet(client)
                    if kind == 0xA2:
                        asked = True
                        print("asked")
                    if kind == 0x82:
                        print("connection", attempt, "subscribes")
                        if asked: break
                        client.sendall(bytes([0x90, 3, *content[:2], 1]))
                        if attempt == 2: break
                client.close()
            """)
        let station = try await Station(at: broker.address)
        var lines = broker.program.lines.makeAsyncIterator()
        let first = try await station.messenger.subscribe("t")
        #expect(await lines.next() == "connection 1 subscribes")
        try await until { await station.messenger.established.map(\.text) == ["t"] }
        first.finish()
        #expect(await lines.next() == "asked")
        let second = try await station.messenger.subscribe("t")
        #expect(await lines.next() == "connection 1 subscribes")
        #expect(await lines.next() == "connection 2 subscribes")
        second.finish()
        try await station.stop()
    }
}
