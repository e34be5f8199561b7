import Cryptography
import Foundation
import Groundwork
import TestSupport
import Testing

@testable import Messaging

@Suite("Several brokers", .timeLimit(.minutes(5)))
struct FailoverTests {
    /// A messenger with several brokers.
    private final class Board {
        let bench: Bench
        let outbox: Outbox
        let messenger: Messenger
        private var task: Task<Void, any Error>?

        init(
            _ addresses: [BrokerAddress], adjust: (inout MessengerSettings) -> Void = { _ in },
            credentials: @escaping @Sendable (BrokerAddress) async throws -> BrokerCredentials = { _ in
                BrokerCredentials(clientID: "board", userName: nil, password: nil, tls: nil)
            }
        ) async throws {
            bench = try Bench()
            outbox = try await Outbox.open(at: bench.path("outbox.db"))
            var settings = MessengerSettings()
            settings.backoff = Backoff(initial: .milliseconds(20), cap: .milliseconds(100))
            settings.returnCheck = .milliseconds(50)
            adjust(&settings)
            messenger = Messenger(addresses: addresses, outbox: outbox, settings: settings, credentials: credentials)
        }

        deinit { task?.cancel() }

        func run() { task = Task { [messenger] in try await messenger.run() } }

        func accept(_ texts: [String]) async throws {
            try await outbox.accept(
                try texts.map { OutgoingMessage(topic: try Topic("t"), payload: Array($0.utf8)) })
        }

        func waitUntilConnected(to address: BrokerAddress) async throws {
            try await until {
                let status = await messenger.status()
                return status.state == .connected && status.broker == address
            }
        }
    }

    @Test("the next broker is used at once where the first cannot be reached, and the status says so")
    func next() async throws {
        let nowhere = BrokerAddress(host: "127.0.0.1", port: try UnusedPort.reserve())
        let broker = try await TestBroker()
        let board = try await Board([nowhere, broker.address]) {
            $0.backoff = Backoff(initial: .seconds(1000), cap: .seconds(1000))
        }
        board.run()
        try await board.waitUntilConnected(to: broker.address)
        let status = await board.messenger.status()
        #expect(!status.isPreferred)
        #expect(status.preferredError == .cannotConnect(nowhere, reason: "Connection refused"))
        try await board.accept(["x"])
        try await until { await board.outbox.status().depth == 0 }
    }

    @Test("a pause comes after the last broker, and then the first is tried again")
    func rounds() {
        var choice = BrokerChoice(of: 3)
        #expect(choice.attemptFailed() && choice.index == 1)
        #expect(choice.attemptFailed() && choice.index == 2)
        #expect(!choice.attemptFailed() && choice.isPreferred)
        #expect(choice.attemptFailed() && choice.index == 1)
        choice.connected()
        #expect(choice.attemptFailed() && choice.index == 2)
        #expect(choice.attemptFailed() && choice.index == 0)
        var only = BrokerChoice(of: 1)
        #expect(!only.attemptFailed() && only.isPreferred)
    }

    @Test("a session moves to the next broker and back without losing a message, and keeps its subscriptions")
    func moving() async throws {
        let (first, second) = (try await TestBroker(.keepingAll), try await TestBroker(.keepingAll))
        let observers = [try await first.observe("t"), try await second.observe("t")]
        let board = try await Board([first.address, second.address])
        board.run()
        try await board.waitUntilConnected(to: first.address)
        let mine = try await board.messenger.subscribe("mine", qos: .atLeastOnce)
        let texts = (0..<300).map { "\($0)" }
        try await board.accept(Array(texts[..<100]))
        try await first.publish("one", to: "mine")
        #expect(await mine.texts(1) == ["one"])
        try await until { await board.outbox.status().depth == 0 }

        first.stop()
        try await board.accept(Array(texts[100..<200]))
        try await board.waitUntilConnected(to: second.address)
        try await until { await board.outbox.status().depth == 0 }
        try await until { try await board.messenger.established.contains(TopicFilter("mine")) }
        try await second.publish("two", to: "mine")
        #expect(await mine.texts(1) == ["two"])

        let events = board.messenger.events.subscribe()
        try await first.start()
        #expect(
            await Station.first(of: events) { if case .disconnected(second.address) = $0 { true } else { nil } } == true
        )
        try await board.waitUntilConnected(to: first.address)
        try await board.accept(Array(texts[200...]))
        try await until { await board.outbox.status().depth == 0 }
        try await until { try await board.messenger.established.contains(TopicFilter("mine")) }
        try await first.publish("three", to: "mine")
        #expect(await mine.texts(1) == ["three"])
        #expect(await board.messenger.status().preferredError == nil)

        var missing = Set(texts)
        for message in await observers[1].first(100) { missing.remove(message.payload) }
        #expect(missing.count == 200)
        for await line in observers[0].program.lines where line.hasPrefix("MESSAGE ") {
            missing.remove(String(line.split(separator: "|").last ?? ""))
            if missing.isEmpty { break }
        }
        #expect(missing.isEmpty)
    }

    @Test("a broker that refuses the credentials is reported, and the next one is used with credentials of its own")
    func refused() async throws {
        let bench = try Bench()
        let file = bench.path("passwords")
        let tool = try Program("/usr/bin/mosquitto_passwd", ["-c", "-b", file, "alice", "right"])
        for await _ in tool.lines {}
        let first = try await TestBroker(.init(lines: ["password_file \(file)"]), bench: bench)
        let second = try await TestBroker()
        let preferred = first.address
        let board = try await Board(
            [preferred, second.address], adjust: { $0.returnCheck = .seconds(600) },
            credentials: { address in
                BrokerCredentials(
                    clientID: address == preferred ? "a" : "b", userName: "alice", password: SecretBytes(utf8: "wrong"),
                    tls: nil)
            })
        let events = board.messenger.events.subscribe()
        board.run()
        #expect(await Station.first(of: events) { if case .refused = $0 { true } else { nil } } == true)
        try await board.waitUntilConnected(to: second.address)
        #expect(await board.messenger.status().preferredError == .refused(first.address, .notAuthorized))
    }

    @Test("missing credentials are no reason to try another broker")
    func withoutCredentials() async throws {
        let addresses = try (0..<2).map { _ in BrokerAddress(host: "127.0.0.1", port: try UnusedPort.reserve()) }
        let board = try await Board(addresses, credentials: { _ in throw CancellationError() })
        let events = board.messenger.events.subscribe()
        board.run()
        var tried: [BrokerAddress] = []
        for await case .connecting(let address, _) in events {
            tried.append(address)
            if tried.count == 3 { break }
        }
        #expect(tried == Array(repeating: addresses[0], count: 3))
    }
}
