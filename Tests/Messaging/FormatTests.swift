import Foundation
import Groundwork
import TestSupport
import Testing

@testable import Messaging

/// Outboxes and inboxes as released versions have written them, in `Formats`: each has to open in every later version.
@Suite("Messages on disk of earlier versions", .timeLimit(.minutes(5)))
struct FormatTests {
    private static let formats = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Formats")
    /// However old the kept files are.
    private static let forever = Duration.seconds(100 * 365 * 86_400)

    let bench: Bench
    let policy: InboxPolicy
    let sent: [OutgoingMessage]
    let received: [IncomingMessage]

    init() throws {
        bench = try Bench()
        policy = InboxPolicy(
            name: "orders", filter: try TopicFilter("t/#"), limitBytes: 1 << 20, limitMessages: 1000,
            maxAge: Self.forever, takesRetained: true)
        sent = [
            OutgoingMessage(topic: try Topic("t"), payload: Array("first".utf8)),
            OutgoingMessage(topic: try Topic("u"), payload: [], retain: true, kind: .telemetry),
            OutgoingMessage(topic: try Topic("t"), payload: Array(0...255), qos: .atMostOnce, publisher: .max),
        ]
        received = [
            IncomingMessage(
                topic: "t/a", payload: Array("order".utf8), qos: .atLeastOnce, retained: true,
                receivedAt: Date(timeIntervalSince1970: 1_790_000_000)),
            IncomingMessage(
                topic: "t/ü", payload: Array(0...255), qos: .atMostOnce, retained: false,
                receivedAt: Date(timeIntervalSince1970: 1_790_000_001)),
        ]
    }

    private func outbox() async throws -> Outbox {
        let policy = OutboxPolicy(limitBytes: 1 << 20, maxAge: Self.forever, payloadLimit: 1 << 16)
        return try await Outbox.open(at: bench.path("outbox.db"), owner: "device", policy: policy)
    }

    private func inboxes() async throws -> InboxStore {
        try await InboxStore.open(at: bench.path("inbox.db"), owner: "device", policies: [policy])
    }

    /// What the files of this version are filled with, to be kept when a version with another format is released.
    private func fill() async throws {
        let outbox = try await outbox()
        for message in sent { try await outbox.accept(message) }
        await outbox.close()
        let inboxes = try await inboxes()
        try await inboxes.keep(received)
        await inboxes.close()
    }

    @Test(
        "an outbox and an inbox open with all their messages, and take others", arguments: ["0.1.0", "this version"])
    func opens(version: String) async throws {
        if version == "this version" {
            try await fill()
        } else {
            let folder = Self.formats.appending(path: version)
            for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
                let copy = bench.path(file.lastPathComponent)
                #expect(
                    FileManager.default.createFile(
                        atPath: copy, contents: try Data(contentsOf: file), attributes: [.posixPermissions: 0o600]))
            }
        }
        let outbox = try await outbox()
        #expect(await outbox.status().setAside == nil)
        #expect(try await outbox.next(limit: 10, bytes: 1 << 20).messages.map(\.message) == sent)
        try await outbox.accept(sent[0])
        #expect(try await outbox.next(limit: 10, bytes: 1 << 20).messages.map(\.message) == [sent[0]])
        await outbox.close()

        let inboxes = try await inboxes()
        try await inboxes.keep([received[0]])
        let found = try await inboxes.page(of: "orders").map(\.message)
        #expect(found.map(\.topic) == ["t/a", "t/ü", "t/a"])
        #expect(found.map(\.payload) == (received + [received[0]]).map(\.payload))
        #expect(found.map(\.receivedAt) == (received + [received[0]]).map(\.receivedAt))
        await inboxes.close()
    }
}
