import Foundation
import Groundwork
import Testing

@testable import Messaging

/// What a broker may send at once, and when it gets its acknowledgements.
@Suite("Messages that come together", .timeLimit(.minutes(1)))
struct ReceivingOrderTests {
    private func inboxes(_ filter: String, in bench: Bench) async throws -> InboxStore {
        let policy = InboxPolicy(
            name: "orders", filter: try TopicFilter(filter), limitBytes: 1 << 20, limitMessages: 10,
            maxAge: .seconds(60))
        return try await InboxStore.open(at: bench.path("inbox.db"), owner: "device", policies: [policy])
    }

    @Test("are not acknowledged before they are kept, though they come with the broker's first answer")
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
}
