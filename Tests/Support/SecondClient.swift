import Foundation
import GatewayLab

/// Another client of the same gateway, as `mosquitto_pub` and `mosquitto_sub` play it with a registration of their own.
package struct SecondClient {
    package let registration: LabClient
    private let folder: URL
    private let options: [String]

    package init(named name: String, user: String? = nil, at lab: Lab, in parent: URL) async throws {
        registration = try await lab.makeClient(named: name, user: user)
        folder = parent.appending(path: name)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let files = [
            "ca.pem": lab.caCertificatePEM, "cert.pem": registration.certificatePEM,
            "key.pem": registration.privateKeyPEM,
        ]
        for (file, text) in files {
            try text.write(to: folder.appending(path: file), atomically: true, encoding: .utf8)
        }
        options = [
            "-h", "localhost", "-p", String(lab.brokerPort ?? 8883), "-i", registration.clientID, "-u",
            registration.userName,
            "-P", registration.accessToken, "--cafile", folder.appending(path: "ca.pem").path,
            "--cert", folder.appending(path: "cert.pem").path, "--key", folder.appending(path: "key.pem").path, "-q",
            "1",
        ]
    }

    /// Publishes one message and waits until the broker has taken it.
    package func publish(_ message: String, to topic: String) async throws {
        let run = try RunningProgram(URL(filePath: "/usr/bin/mosquitto_pub"), options + ["-t", topic, "-m", message])
        let status = try await run.ended()
        guard status == 0 else { throw Unexpected("mosquitto_pub ended with \(status): \(run.errors.text)") }
    }

    /// Listens until it is stopped; its first line of output after the handshake says that it has subscribed.
    package func subscribe(to filter: String) async throws -> RunningProgram {
        let listener = try RunningProgram(
            URL(filePath: "/usr/bin/stdbuf"), ["-oL", "/usr/bin/mosquitto_sub", "-d"] + options + ["-t", filter])
        _ = try await listener.output.line(containing: "Subscribed")
        return listener
    }
}
