import Foundation
import TestSupport

/// A broker that shares no code with Mosquitto, with its own defaults, but for where it listens and keeps its files.
final class RealBroker: LocalBroker {
    enum Kind: String {
        /// Debian's RabbitMQ, with its MQTT plugin.
        case rabbitMQ
        /// From PyPI, written in Python.
        case amqtt
        /// From PyPI, in the package iotcore; written in Rust.
        case rumqttd

        /// Whether it can be started here: from PyPI it is fetched, unless it has been before.
        var isThere: Bool {
            get async {
                guard self == .rabbitMQ else { return (try? await RealBroker.packages) != nil }
                return FileManager.default.isExecutableFile(atPath: RealBroker.server.path)
            }
        }
    }

    private static let server = URL(filePath: "/usr/lib/rabbitmq/bin/rabbitmq-server")
    private static let scripts = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Brokers")

    /// The folder of the packages from PyPI.
    private static var packages: String {
        get async throws {
            let prepared = try await Program(url: scripts.appending(path: "prepare")).run([], seconds: 300)
            guard prepared.status == 0 else { throw Unexpected("no brokers from PyPI: \(prepared.errors)") }
            return prepared.output.trimmingCharacters(in: .whitespacesAndNewlines)
        }
    }

    let address = RealBroker.randomAddress()
    let port = 1883
    private let kind: Kind
    private let folder: URL
    private var environment: [String: String] = [:]
    private(set) var program: RunningProgram?

    /// - Parameter folder: for its files; it exists.
    init(_ kind: Kind, in folder: URL) async throws {
        (self.kind, self.folder) = (kind, folder)
        if kind == .rabbitMQ {
            try configureRabbitMQ()
        } else {
            environment = ["PYTHONPATH": try await Self.packages]
        }
        try await start()
    }

    /// Starts it, also after it was stopped.
    func start() async throws {
        if kind == .rabbitMQ {
            let program = try RunningProgram(Self.server, [], environment: environment)
            self.program = program
            _ = try await program.output.line(containing: "Server startup complete")
        } else {
            let script = Self.scripts.appending(path: "broker.py").path
            let program = try RunningProgram(
                URL(filePath: "/usr/bin/python3"), ["-B", script, kind.rawValue, address], environment: environment)
            self.program = program
            _ = try await program.output.line(containing: "running")
        }
    }

    /// Ends it as a power cut does.
    func kill() async throws { try await program?.stop(SIGKILL) }

    /// A node of its own, with its own port mapper, that can be reached over the loopback net alone.
    private func configureRabbitMQ() throws {
        let (mapper, distribution) = (try Self.freePort(), try Self.freePort())
        let texts = [
            "rabbitmq.conf": "listeners.tcp = none\nmqtt.listeners.tcp.1 = \(address):\(port)\n",
            "enabled_plugins": "[rabbitmq_mqtt].\n",
        ]
        for (name, text) in texts {
            try text.write(to: folder.appending(path: name), atomically: true, encoding: .utf8)
        }
        environment = [
            "HOME": folder.path, "RABBITMQ_NODENAME": "latchkey\(mapper)@localhost",
            "RABBITMQ_MNESIA_BASE": folder.appending(path: "store").path, "RABBITMQ_LOG_BASE": folder.path,
            "RABBITMQ_LOGS": "-", "RABBITMQ_CONFIG_FILE": folder.appending(path: "rabbitmq").path,
            "RABBITMQ_ENABLED_PLUGINS_FILE": folder.appending(path: "enabled_plugins").path,
            "RABBITMQ_CONF_ENV_FILE": "/dev/null", "RABBITMQ_DIST_PORT": "\(distribution)",
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1}",
            "ERL_EPMD_PORT": "\(mapper)", "ERL_EPMD_ADDRESS": "127.0.0.1",
            // The process that is started is the broker itself, and not a shell that waits for it.
            "RUNNING_UNDER_SYSTEMD": "yes",
        ]
        _ = try RunningProgram(
            URL(filePath: "/usr/bin/epmd"), ["-address", "127.0.0.1", "-port", "\(mapper)"])
    }

    private static func freePort() throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &place) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 ? getsockname(descriptor, $0, &length) : -1
            }
        }
        guard result == 0 else { throw Unexpected("no free port: \(String(cString: strerror(errno)))") }
        return Int(UInt16(bigEndian: place.sin_port))
    }
}
