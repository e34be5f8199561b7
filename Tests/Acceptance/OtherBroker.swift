import Cryptography
import Foundation
import TestSupport

/// A broker at an address of the loopback net that is this one's alone, so that its port is free there.
protocol LocalBroker {
    var address: String { get }
    var port: Int { get }
}

extension LocalBroker {
    static func randomAddress() -> String {
        "127." + (0..<3).map { _ in "\(Int.random(in: 1...254))" }.joined(separator: ".")
    }

    /// `mosquitto_sub` on this broker, subscribed when this returns.
    func observe(_ filter: String, as user: String? = nil, _ password: String = "") async throws -> RunningProgram {
        let observer = try RunningProgram(
            URL(filePath: "/usr/bin/stdbuf"),
            ["-oL", "/usr/bin/mosquitto_sub", "-d", "-h", address, "-p", "\(port)", "-q", "1", "-v", "-t", filter]
                + Self.login(user, password))
        _ = try await observer.output.line(containing: "Subscribed")
        return observer
    }

    private static func login(_ user: String?, _ password: String) -> [String] {
        user.map { ["-u", $0, "-P", password] } ?? []
    }

    func publish(
        _ message: String, to topic: String, as user: String? = nil, _ password: String = ""
    ) async throws {
        let result = try await Program(url: URL(filePath: "/usr/bin/mosquitto_pub")).run(
            [
                "-h", address, "-p", "\(port)", "-q", "1", "-t", topic, "-m", message,
            ] + Self.login(user, password))
        guard result.status == 0 else { throw Unexpected("mosquitto_pub: \(result.errors)") }
    }
}

/// A Mosquitto of its own.
final class OtherBroker: LocalBroker {
    let address = OtherBroker.randomAddress()
    let port: Int
    private let folder: URL
    private(set) var program: RunningProgram
    private let configuration: URL

    /// - Parameters:
    ///   - folder: for its files; it exists.
    ///   - authority: of its certificate; without one it takes connections without TLS.
    ///   - users: names with passwords; without any it takes everybody.
    ///   - settings: more lines of its configuration.
    init(
        in folder: URL, authority: TestAuthority? = nil, users: [String: String] = [:], settings: [String] = []
    ) async throws {
        port = authority == nil ? 1883 : 8883
        self.folder = folder
        var lines = ["listener \(port) \(address)", "user root", "log_dest stderr", "log_type all"]
        if let authority {
            let identity = try authority.identity("broker", ipAddresses: [address])
            for (name, text) in ["server.pem": identity.chain[0].pem, "server.key": try identity.keyPEM] {
                try text.write(to: folder.appending(path: name), atomically: true, encoding: .utf8)
            }
            lines.append("certfile \(folder.appending(path: "server.pem").path)")
            lines.append("keyfile \(folder.appending(path: "server.key").path)")
        }
        lines.append("allow_anonymous \(users.isEmpty)")
        let passwords = folder.appending(path: "passwords")
        for (name, password) in users {
            let isFirst = !FileManager.default.fileExists(atPath: passwords.path)
            let result = try await Program.found.run(
                ["mosquitto_passwd"] + (isFirst ? ["-c"] : []) + ["-b", passwords.path, name, password])
            guard result.status == 0 else { throw Unexpected("mosquitto_passwd: \(result.errors)") }
        }
        if !users.isEmpty { lines.append("password_file \(passwords.path)") }
        lines += settings
        configuration = folder.appending(path: "mosquitto.conf")
        try lines.joined(separator: "\n").write(to: configuration, atomically: true, encoding: .utf8)
        program = try await Self.start(configuration)
    }

    private static func start(_ configuration: URL) async throws -> RunningProgram {
        let program = try RunningProgram(URL(filePath: "/usr/sbin/mosquitto"), ["-c", configuration.path])
        _ = try await program.errors.line(containing: "running")
        return program
    }

    /// Starts it again after it was stopped.
    func restart() async throws { program = try await Self.start(configuration) }

    /// How many connections of a client it has accepted, once there were so many.
    func connections(of client: String, atLeast least: Int = 0) async throws -> Int {
        let isOne = { @Sendable (line: String) in
            line.contains("New client connected") && line.contains(" as \(client) ")
        }
        try await program.errors.lines(least, where: isOne)
        return program.errors.lines.count(where: isOne)
    }
}
