import Foundation
import Glibc
import TestSupport
import Testing

@testable import Messaging

@Suite("Acknowledging messages", .timeLimit(.minutes(5)))
struct AcknowledgingTests {
    private static let texts = (0..<1000).map { "\($0)" }

    @Test("messages that come together are acknowledged in one TLS record")
    func together() async throws {
        let secure = try await SecureBroker(
            host: "127.0.0.1", keepsAll: true, lines: ["max_inflight_messages 0"])
        let (board, sender) = try (secure.credentials(), secure.credentials(clientID: "sender"))
        let relay = try CuttingRelay(to: secure.broker.address)
        defer { relay.stop() }
        let absent = try await Station(at: relay.address, credentials: { _ in board })
        try await absent.waitUntilConnected()
        let former = try await absent.messenger.subscribe("t")
        try await absent.stop()
        // Until here: without it, the broker would be asked to end what the next session is to get.
        withExtendedLifetime(former) {}
        let other = try await Station(at: secure.broker.address, credentials: { _ in sender })
        try await other.outbox.accept(
            try Self.texts.map { OutgoingMessage(topic: try Topic("t"), payload: Array($0.utf8)) })
        try await other.waitUntilSent()
        let before = relay.passed
        let station = try await Station(at: relay.address, running: false, credentials: { _ in board })
        let subscription = try await station.messenger.subscribe("t")
        station.run()
        #expect(await subscription.texts(Self.texts.count) == Self.texts)
        // Once the broker acknowledges this, it has read all that came before.
        try await station.publish("last", to: "u")
        try await station.waitUntilSent()
        try await station.stop()
        // Alone, each acknowledgement of four bytes would become a record of 26: five of header, one of the content's
        // type, 16 of the tag (RFC 8446 section 5.2). Together they come near four. A broker that gets little of the
        // processor sends the messages in smaller groups, each of which costs a record: up to 24 a message leaves room
        // for that, and is reached by no program that writes each alone.
        #expect(relay.passed - before < 24 * Self.texts.count)
        // The broker has them all, or it would send them again.
        let again = try await Station(at: relay.address, running: false, credentials: { _ in board })
        let rest = try await again.messenger.subscribe("t")
        again.run()
        try await again.waitUntilConnected()
        try await other.publish("after", to: "t")
        let texts = await rest.texts(1)
        #expect(texts == ["after"])
    }

    /// One end of a pair of sockets would have a byte for each packet.
    @Test("acknowledging writes nothing to sockets that nobody reads", .enabled(if: !TestSupport.Program.isSanitized))
    func unread() async throws {
        let broker = try await TestBroker()
        let station = try await Station(at: broker.address)
        try await station.waitUntilConnected()
        let subscription = try await station.messenger.subscribe("t")
        for text in Self.texts.prefix(200) { try await station.publish(text, to: "t") }
        #expect(await subscription.texts(200) == Array(Self.texts.prefix(200)))
        // Of this process, which may have other tests' descriptors too.
        let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int32($0) }
        #expect(!descriptors.contains(where: hasUnreadZeros))
    }

    private func hasUnreadZeros(_ descriptor: Int32) -> Bool {
        var (domain, size) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
        guard getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0, domain == AF_UNIX else {
            return false
        }
        var bytes = [UInt8](repeating: 1, count: 100)
        let count = recv(descriptor, &bytes, bytes.count, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        return count == bytes.count && bytes.allSatisfy { $0 == 0 }
    }
}
