import Cryptography
import Foundation
import Groundwork
import Synchronization
import TestSupport

@testable import Messaging

/// A messenger at work with an outbox of its own.
final class Station: Sendable {
    let bench: Bench
    let outbox: Outbox
    let messenger: Messenger
    private let task: Mutex<Task<Void, any Error>?>
    init(
        at address: BrokerAddress, clientID: String = "latchkey-test", policy: OutboxPolicy = OutboxPolicy(),
        durability: Durability = .disk, bench: Bench? = nil, running: Bool = true,
        inboxes: InboxStore? = nil,
        adjust: (inout MessengerSettings) throws -> Void = { _ in },
        credentials: (@Sendable (_ attempt: Int) throws -> BrokerCredentials)? = nil
    ) async throws {
        self.bench = try bench ?? Bench()
        outbox = try await Outbox.open(at: self.bench.path("outbox.db"), policy: policy, durability: durability)
        var settings = MessengerSettings()
        settings.backoff = Backoff(initial: .milliseconds(20), cap: .milliseconds(100))
        try adjust(&settings)
        let count = Counter()
        messenger = Messenger(address: address, outbox: outbox, inboxes: inboxes, settings: settings) {
            let number = count.next()
            return try credentials?(number)
                ?? BrokerCredentials(clientID: clientID, userName: nil, password: nil, tls: nil)
        }
        task = Mutex(nil)
        if running { run() }
    }

    deinit { task.withLock { $0?.cancel() } }

    func run() {
        let messenger = messenger
        task.withLock { $0 = Task { try await messenger.run() } }
    }

    /// Ends the connection in good order.
    func stop() async throws {
        let task = task.withLock { $0 }
        task?.cancel()
        try await task?.value
    }

    func publish(
        _ payload: String, to topic: String, qos: QoS = .atLeastOnce, retain: Bool = false
    ) async throws {
        try await outbox.accept(
            OutgoingMessage(
                topic: Topic(topic), payload: Array(payload.utf8), qos: qos, retain: retain))
    }

    func waitUntilConnected() async throws { try await until { await messenger.status().state == .connected } }
    func waitUntilSent() async throws { try await until { await outbox.status().depth == 0 } }

    /// Waits for the event after it was subscribed to.
    static func first<Value: Sendable>(
        of events: AsyncStream<MessengerEvent>, _ match: (MessengerEvent) -> Value?
    ) async -> Value? {
        for await event in events { if let value = match(event) { return value } }
        return nil
    }
}

extension IncomingMessage {
    var text: String { String(decoding: payload, as: UTF8.self) }
}

extension Subscription {
    /// The next messages, of one or several deliveries, and how many were lost before them. What is left of the last
    /// delivery is discarded.
    func next(_ count: Int) async -> (messages: [IncomingMessage], lost: Int) {
        var (messages, lost) = ([IncomingMessage](), 0)
        for await delivery in self {
            messages += delivery.messages
            lost += delivery.lost
            if messages.count >= count { break }
        }
        return (Array(messages.prefix(count)), lost)
    }

    /// The texts of the next messages.
    func texts(_ count: Int) async -> [String] { await next(count).messages.map(\.text) }
}
