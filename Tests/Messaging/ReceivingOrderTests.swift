import Foundation
import Groundwork
import Testing

@testable import Messaging

/// What a broker may send at once, and when it gets its acknowledgements.
@Suite("Messages that come together", .timeLimit(.minutes(5)))
struct ReceivingOrderTests {
    private func inboxes(_ filter: String, in bench: Bench) async throws -> InboxStore {
        let policy = InboxPolicy(
            name: "orders", filter: try TopicFilter(filter), limitBytes: 1 << 20, limitMessages: 10,
            maxAge: .seconds(60))
        return try await InboxStore.open(at: bench.path("inbox.db"), owner: "device", policies: [policy])
    }

    @Test("messages that come together are not acknowledged before they are kept")
    func first() async throws {
        let broker = try await ScriptedBroker(
            isSecure: true,
            """
            client = accept()
            packet(client)
            client.sendall(connack(1) + publish(7, b"first") + publish(8, b"second"))
            kinds = []
            try:
                while True: kinds.append(packet(client)[0])
            except (EOFError, OSError): print("saw", kinds)
            """)
        let inboxes = try await inboxes("t", in: broker.bench)
        // Nothing can be kept any more.
        await inboxes.close()
        let station = try await Station(at: broker.address, inboxes: inboxes, credentials: broker.credentials)
        #expect(await broker.program.firstLine(containing: "saw") == "saw []")
        try await station.stop()
    }

    @Test("messages of QoS 2 end the connection when the broker releases none, and not before")
    func unreleased() async throws {
        let broker = try await ScriptedBroker(
            isSecure: true,
            """
            client = accept()
            subscribed(client)
            def exactly(mid): return packed(0x34, b"\\x00\\x01t" + mid.to_bytes(2, "big") + b"x")
            for mid in range(1, 1501):
                client.sendall(exactly(mid))
                assert packet(client) == (0x50, mid.to_bytes(2, "big"))
                client.sendall(packed(0x62, mid.to_bytes(2, "big")))
                assert packet(client) == (0x70, mid.to_bytes(2, "big"))
            try:
                for mid in range(1, 1002): client.sendall(exactly(mid))
                while client.recv(4096): pass
            except OSError: pass
            print("ended")
            """)
        let station = try await Station(at: broker.address, running: false, credentials: broker.credentials)
        let events = station.messenger.events.subscribe()
        let subscription = try await station.messenger.subscribe("t", bound: 2000)
        station.run()
        #expect(await subscription.texts(1500).count == 1500)
        let failure = await events.first { if case .failed = $0 { true } else { false } }
        guard case .failed(let error, _)? = failure else {
            Issue.record("the connection did not fail")
            return
        }
        let reason = "it sent messages of QoS 2 without end and did not release them"
        #expect(error == .connectionLost(broker.address, reason: reason))
        #expect(await broker.program.firstLine(containing: "ended") != nil)
        try await station.stop()
    }

    @Test("messages that come together are acknowledged together, however many came before them")
    func stuck() async throws {
        let broker = try await ScriptedBroker(
            isSecure: true,
            """
            client = accept()
            subscribed(client, 2)
            # The library signals itself for each, until nothing more fits.
            for mid in range(1, 1001):
                client.sendall(publish(mid, b"one"))
                assert packet(client)[0] == 0x40
            client.sendall(publish(1001, b"a") + publish(1002, b"b") + publish(1003, b"c"))
            seen = []
            client.settimeout(60)
            try:
                for _ in range(3): seen.append(identifier(packet(client)[1]))
            except OSError: pass
            print("acknowledged", seen)
            """)
        // While there are any, acknowledgements wait for the disk.
        let inboxes = try await inboxes("other", in: broker.bench)
        let station = try await Station(at: broker.address, inboxes: inboxes, credentials: broker.credentials)
        let subscription = try await station.messenger.subscribe("t", bound: 2000)
        #expect(await broker.program.firstLine(containing: "acknowledged") == "acknowledged [1001, 1002, 1003]")
        #expect(await subscription.texts(1003).suffix(3) == ["a", "b", "c"])
        try await station.stop()
        await inboxes.close()
    }

    @Test(
        "messages that come together and are too large are acknowledged and reported, and others arrive",
        arguments: [false, true])
    func tooLarge(isSecure: Bool) async throws {
        let broker = try await ScriptedBroker(
            isSecure: isSecure,
            """
            client = accept()
            subscribed(client)
            sizes = [5, 3_000_000, 500_001, 500_000, 5_000_000]
            client.sendall(b"".join(publish(mid, b"." * size) for mid, size in enumerate(sizes, 1)))
            print("acknowledged", [identifier(packet(client)[1]) for _ in sizes])
            while True: packet(client)
            """)
        let station = try await Station(
            at: broker.address, running: false, adjust: { $0.payloadLimit = 500_000 }, credentials: broker.credentials)
        let subscription = try await station.messenger.subscribe("t")
        var events = station.messenger.messages.subscribe().makeAsyncIterator()
        station.run()
        #expect(await broker.program.firstLine(containing: "acknowledged") == "acknowledged [1, 2, 3, 4, 5]")
        #expect(await subscription.next(2).messages.map(\.payload.count) == [5, 500_000])
        for bytes in [3_000_000, 500_001, 5_000_000] {
            #expect(await events.next() == .tooLarge(topic: "t", bytes: bytes, limit: 500_000))
        }
        let status = await station.messenger.status()
        #expect((status.received, status.oversized) == (5, 3))
        try await station.stop()
    }
}
