import Foundation
import TestSupport
import Testing

/// A board without a gateway at brokers that are not Mosquitto, with their own defaults.
@Suite("Real brokers with their defaults", .timeLimit(.minutes(8)))
struct RealBrokersTests {
    /// What the tests say that do not run.
    private static let absence: Comment = "not installed: deploy/prepare test, and Tests/Brokers/prepare"
    private static let quiet = "[telemetry]\nenabled = false\n"

    /// A board with an account at a broker.
    private func withBoard(
        at kind: RealBroker.Kind, settings: String = Self.quiet, topics: String = "latchkey/{device}/{name}",
        _ body: (TestBoard, RealBroker) async throws -> Void
    ) async throws {
        try await BrokerAccountTests().withBoard(settings: settings) { board, folder in
            let broker = try await RealBroker(kind, in: folder)
            let added = try await board.ask(
                "accounts", "add", "home", "--broker", "mqtt://\(broker.address):\(broker.port)", "--client-id", "pump",
                "--topics", topics)
            #expect(value(added, "broker", "state") as? String == "connected")
            try await body(board, broker)
        }
    }

    private func publish(_ numbers: ClosedRange<Int>, from board: TestBoard) async throws {
        let result = try await board.latchkey(
            "publish", "--lines", "count", input: numbers.map { "n\($0);\n" }.joined())
        #expect(result.status == 0, "\(result.errors)")
    }

    /// Waits for a message in the inbox. Others may come before, and a second time: brokers that are killed forget what
    /// was acknowledged last.
    private func inboxHas(_ message: String, at board: TestBoard) async throws {
        let reader = try RunningProgram(
            Program.shipped.url,
            ["inbox", "read", "orders", "--follow", "--payload", "line", "--ack", "--socket", board.socket])
        _ = try await reader.output.line(containing: message)
        try await reader.stop()
    }

    /// What every broker has to do.
    ///
    /// - Parameter keepsMessages: whether messages wait for a board that is away, or its subscriptions alone.
    private func tryAll(_ kind: RealBroker.Kind, keepsMessages: Bool = true) async throws {
        try await withBoard(at: kind) { board, broker in
            let prefix = "latchkey/pump/"
            let isCount = { @Sendable (line: String) in line.hasPrefix(prefix + "count ") }
            let presence = try await broker.observe(prefix + "status")
            _ = try await presence.output.line(containing: prefix + "status online")

            // Messages in order, for this one and for a program of the board.
            let viewer = try await broker.observe("latchkey/#")
            try await publish(1...50, from: board)
            let arrived = try await viewer.output.lines(50, where: isCount)
            #expect(arrived == (1...50).map { prefix + "count n\($0);" })
            // Retained, so that it does not matter which is first.
            let word = ["-h", broker.address, "-q", "1", "-r", "-t", prefix + "word", "-m", "hello"]
            #expect(try await Program(url: URL(filePath: "/usr/bin/mosquitto_pub")).run(word).status == 0)
            let reader = try board.follow("subscribe", "word", "--count", "1")
            #expect(try await reader.ended() == 0)
            #expect(reader.output.text.contains("hello"))

            #expect(try await board.latchkey("inbox", "add", "orders", "orders/#").status == 0)
            try await broker.publish("one", to: prefix + "orders/1")
            try await inboxHas("one", at: board)
            try await board.stop()
            _ = try await viewer.output.line(containing: prefix + "status offline")
            if keepsMessages { try await broker.publish("two", to: prefix + "orders/2") }
            try await board.start()
            _ = try await board.status { $0.isConnected }
            if !keepsMessages { try await broker.publish("two", to: prefix + "orders/2") }
            try await inboxHas("two", at: board)

            // The broker is gone, and what is published meanwhile arrives when it is back.
            _ = try await viewer.stop()
            _ = try await presence.stop()
            try await broker.kill()
            _ = try await board.status { !$0.isConnected }
            try await publish(51...70, from: board)
            // Until somebody listens there, so that what the board publishes is not lost for want of a subscriber.
            board.daemon?.signal(SIGSTOP)
            try await broker.start()
            let second = try await broker.observe("latchkey/#")
            board.daemon?.signal(SIGCONT)
            for number in 51...70 { _ = try await second.output.line(containing: prefix + "count n\(number);") }
            _ = try await second.output.line(containing: prefix + "status online")
            try await broker.publish("three", to: prefix + "orders/3")
            try await inboxHas("three", at: board)
            let checks = try await board.latchkey("doctor")
            #expect(checks.output.contains("pass  broker: connected to \(broker.address)"), "\(checks.output)")
        }
    }

    @Test(
        "RabbitMQ: all arrives, in order, and after the broker was killed",
        .enabled(Self.absence) { await RealBroker.Kind.rabbitMQ.isThere })
    func rabbitMQ() async throws { try await tryAll(.rabbitMQ) }

    @Test(
        "amqtt: all arrives but what came while the board was away, which it does not keep",
        .enabled(Self.absence) { await RealBroker.Kind.amqtt.isThere })
    func amqtt() async throws { try await tryAll(.amqtt, keepsMessages: false) }

    @Test(
        "rumqttd: all arrives, in order, and after the broker was killed",
        .enabled(Self.absence) { await RealBroker.Kind.rumqttd.isThere })
    func rumqttd() async throws { try await tryAll(.rumqttd) }

    @Test(
        "rumqttd hangs up on payloads over its 20480 bytes: one is set aside, or refused where the settings say so",
        .enabled(Self.absence) { await RealBroker.Kind.rumqttd.isThere })
    func large() async throws {
        let big = String(repeating: "A", count: 30_000)
        try await withBoard(at: .rumqttd) { board, _ in
            #expect(try await board.latchkey("publish", "big", input: big).status == 0)
            #expect(try await board.latchkey("publish", "small", "two").status == 0)
            _ = try await board.status { $0.outbox?.deadLetters == 1 && $0.outbox?.depth == 0 }
            #expect(try await board.latchkey("doctor").output.contains("latchkey dead-letters"))
        }
        let settings = Self.quiet + "[outbox]\npayload_limit_bytes = 20000\n"
        try await withBoard(at: .rumqttd, settings: settings) { board, _ in
            let refused = try await board.latchkey("publish", "big", input: big)
            #expect(refused.status != 0, "\(refused.output)")
        }
    }

    @Test(
        "RabbitMQ gives retained messages to whole topics alone, and has a slash for each dot",
        .enabled(Self.absence) { await RealBroker.Kind.rabbitMQ.isThere })
    func peculiarities() async throws {
        try await withBoard(at: .rabbitMQ, topics: "v2.0/{device}/{name}") { board, broker in
            let viewer = try await broker.observe("v2/0/#")
            #expect(try await board.latchkey("publish", "door", "open").status == 0)
            _ = try await viewer.output.line(containing: "v2/0/pump/door open")
            #expect(!viewer.output.text.contains("pump/status online"), "a filter with wildcards got what is retained")
            let late = try await broker.observe("v2.0/pump/status")
            _ = try await late.output.line(containing: "status online")
        }
    }
}
