import Cryptography
import Foundation
import TestSupport

@testable import Messaging

/// A real Mosquitto on a loopback port of its own, with its state in a directory of its own; stopped with its last
/// reference. It can be stopped and started again with what it knew. Its limits are those it has by default: a kinder
/// broker hides what users meet.
final class TestBroker {
    struct Options {
        /// `listener` options, such as certificates.
        var lines: [String] = ["allow_anonymous true"]
        /// Whether it speaks MQTT over WebSocket; then it has a second listener, of MQTT over TCP. Without any such, it
        /// does not start.
        var speaksWebSocket = false

        /// For clients that are sent more than Mosquitto keeps for one of them by default.
        static let keepingAll = Options(lines: ["allow_anonymous true", "max_queued_messages 0"])
    }

    let bench: Bench
    let address: BrokerAddress
    /// Of its second listener.
    let plainPort: Int
    private var program: Program?

    init(_ options: Options = Options(), bench: Bench? = nil, host: String = "127.0.0.1") async throws {
        self.bench = try bench ?? Bench()
        plainPort = options.speaksWebSocket ? try UnusedPort.reserve() : 0
        address = BrokerAddress(
            host: host, port: try UnusedPort.reserve(), webSocketPath: options.speaksWebSocket ? "/mqtt" : nil)
        try self.bench.write(
            """
            listener \(address.port) 127.0.0.1
            user root
            persistence true
            persistence_location \(self.bench.directory.path)/
            log_dest stderr
            \(options.lines.joined(separator: "\n"))
            \(options.speaksWebSocket ? "protocol websockets\nlistener \(plainPort) 127.0.0.1" : "")

            """, to: "mosquitto.conf")
        try await start()
    }

    deinit { program?.thaw() }

    func start() async throws {
        let program = try Program("/usr/sbin/mosquitto", ["-c", bench.path("mosquitto.conf")])
        guard await program.firstLine(containing: "running") != nil else { throw BrokerDidNotStart() }
        self.program = program
    }

    struct BrokerDidNotStart: Error {}

    /// Waits for a line of its log, after those that were waited for before.
    ///
    /// - Returns: whether there was one before its end.
    func says(_ text: String) async -> Bool { await program?.firstLine(containing: text) != nil }

    func stop() { program?.stop() }
    func kill() { program?.kill() }
    /// For another thread to call.
    var killing: @Sendable () -> Void { { [program] in program?.kill() } }
    func freeze() { program?.freeze() }
    func thaw() { program?.thaw() }

    /// Mosquitto's plugin for who may subscribe to what; its own access lists only filter what is delivered.
    static var dynamicSecurity: String {
        get throws {
            let libraries = "/usr/lib"
            let found = try FileManager.default.contentsOfDirectory(atPath: libraries)
                .map { "\(libraries)/\($0)/mosquitto_dynamic_security.so" }
            return found.first { FileManager.default.fileExists(atPath: $0) } ?? ""
        }
    }
}

extension TestBroker {
    /// A second client of another make: `mosquitto_sub`, subscribed when this returns. It keeps its session.
    func observe(_ filter: String, qos: Int = 2, arguments: [String] = []) async throws -> Observer {
        let id = UUID().uuidString
        let program = try Program(
            "/usr/bin/mosquitto_sub",
            [
                "-h", address.host, "-p", "\(address.port)", "-i", id, "-c", "-q", "\(qos)", "-t", filter, "-d",
                "-F", "MESSAGE %t|%q|%r|%p",
            ] + arguments)
        _ = await program.firstLine(containing: "Subscribed")
        return Observer(program: program)
    }

    /// Publishes as another client would.
    func publish(_ payload: String, to topic: String, arguments: [String] = []) async throws {
        let program = try Program(
            "/usr/bin/mosquitto_pub",
            [
                "-h", address.host, "-p", "\(address.port)", "-q", "2", "-t", topic, "-m", payload,
            ] + arguments)
        for await _ in program.lines {}
    }
}

/// What a `mosquitto_sub` prints.
struct Observer {
    struct Message: Equatable {
        var topic: String
        var qos: Int
        var retained: Bool
        var payload: String
    }

    let program: Program

    var messages: some AsyncSequence<Message, Never> {
        program.lines.compactMap { line in
            guard line.hasPrefix("MESSAGE ") else { return nil }
            let parts = line.dropFirst(8).split(separator: "|", maxSplits: 3, omittingEmptySubsequences: false).map(
                String.init)
            return Message(topic: parts[0], qos: Int(parts[1]) ?? -1, retained: parts[2] == "1", payload: parts[3])
        }
    }

    func first(_ count: Int = 1) async -> [Message] {
        var found: [Message] = []
        for await message in messages {
            found.append(message)
            if found.count == count { break }
        }
        return found
    }
}
