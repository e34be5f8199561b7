import Cryptography
import Foundation
import GatewayLab
import TestSupport
import Testing

/// What a person is told of a bad server, by the program.
@Suite("Reports of bad servers to a person at a board", .timeLimit(.minutes(15)))
struct BadServerReportTests {
    @Test("enroll, status and doctor say what is wrong with the gateway, and what to do")
    func gateway() async throws {
        let servers = try await BadServers.shared
        try await withLabAndBoard { lab, board in
            let faults = [
                "expired": "expired at", "other-host": "is not for localhost", "other-authority": "not trusted",
                "weak-key": "too weak",
                "tls-1.0": "cannot agree on TLS", "no-forward-secrecy": "cannot agree on TLS",
                "garbage": "cannot agree on TLS",
            ]
            for (server, words) in faults {
                let file = try await configuration(of: lab, in: board, trusting: servers) { document in
                    document["server.port"] = try servers.port(of: server)
                }
                let enrolled = try await board.latchkey("enroll", "--json", file.path)
                #expect(enrolled.status != 0)
                let status = try await board.status { $0.lastError?.message.contains(words) == true }
                let doctor = try await board.latchkey("doctor", "--json").json
                let checks = try #require(doctor["checks"] as? [[String: Any]])
                let failed = try #require(checks.first { $0["verdict"] as? String == "fail" }, "\(doctor)")
                let shown = error(in: enrolled.errors)
                let told = [
                    ("enroll", value(shown, "message") as? String, value(shown, "remedy") as? String),
                    ("status", status.lastError?.message, status.lastError?.remedy),
                    ("doctor", failed["message"] as? String, failed["remedy"] as? String),
                ]
                for (place, message, remedy) in told {
                    #expect(message?.contains(words) == true, "\(server), \(place): \(message ?? "nothing")")
                    #expect(remedy?.isEmpty == false, "\(server), \(place): no remedy")
                }
            }
        }
    }

    @Test(
        "status and doctor say what is wrong with the broker, and what to do",
        arguments: [
            ("expired", "messaging.tls-refused", "expired at"), ("self-signed", "messaging.tls-refused", "not trusted"),
            ("other-host", "messaging.tls-refused", "is not for localhost"),
            ("tls-1.1", "messaging.tls-failed", "protocol version"),
            ("client-refused-1.2", "messaging.tls-failed", "unknown ca"),
        ])
    func broker(server: String, code: String, words: String) async throws {
        let servers = try await BadServers.shared
        let port = try servers.port(of: server)
        try await withLabAndBoard(settings: "[broker]\nport = \(port)") { lab, board in
            let file = try await configuration(of: lab, in: board, trusting: servers) { _ in }
            _ = try await board.enroll(file.path)
            let status = try await board.status { $0.broker?.lastError != nil }
            #expect(status.broker?.state != "connected")
            let error = try #require(status.broker?.lastError)
            #expect(error.code == code)
            #expect(error.message.contains(words), "\(error)")
            #expect(error.remedy?.isEmpty == false)
            let doctor = try await board.latchkey("doctor", "--json").json
            let check = (doctor["checks"] as? [[String: Any]])?.first { $0["name"] as? String == "broker" }
            #expect(check?["verdict"] as? String == "fail")
            #expect((check?["message"] as? String)?.contains(words) == true, "\(check ?? [:])")
            #expect((check?["remedy"] as? String)?.isEmpty == false)
        }
    }

    private func error(in text: String) -> Any? {
        value(try? JSONSerialization.jsonObject(with: Data(text.utf8)), "error")
    }

    /// The lab's configuration with changes, as a file: the bad servers' authority is trusted too, and nothing is
    /// pinned.
    private func configuration(
        of lab: Lab, in board: TestBoard, trusting servers: BadServers, _ change: (inout Document) throws -> Void
    ) async throws -> URL {
        var document = Document(try await lab.configurationDocument())
        document["server.server_certs"] = [lab.caCertificatePEM, servers.root.pem].map { pem in
            pem.split(separator: "\n").map(String.init)
        }
        document["mag.mobile_sdk.trusted_cert_pinned_public_key_hashes"] = [String]()
        try change(&document)
        let file = board.folder.appending(path: "gateway.json")
        try document.data().write(to: file)
        return file
    }

    /// A JSON object whose members are named by paths.
    private struct Document {
        private var object: [String: Any]

        init(_ bytes: [UInt8]) {
            object = (try? JSONSerialization.jsonObject(with: Data(bytes))) as? [String: Any] ?? [:]
        }

        func data() throws -> Data { try JSONSerialization.data(withJSONObject: object) }

        subscript(path: String) -> Any? {
            get { nil }
            set { object = Self.changed(object, path.split(separator: ".").map(String.init), newValue) }
        }

        private static func changed(_ object: [String: Any], _ path: [String], _ value: Any?) -> [String: Any] {
            var object = object
            let inner = object[path[0]] as? [String: Any] ?? [:]
            object[path[0]] = path.count == 1 ? value : changed(inner, Array(path.dropFirst()), value)
            return object
        }
    }
}
