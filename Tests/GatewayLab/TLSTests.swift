import Foundation
import GatewayLab
import Testing

extension GatewayLabTests {
    /// The TLS of the gateway's port, asked by a client that holds each byte in its hands.
    @Suite("TLS of the lab")
    struct TLSTests {
        private static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("tls_client.py").path

        @Test(
            "the lab's TLS does what each sentence says",
            arguments: [
                ("hostile", "refuses what is not TLS, and what was changed on the way, and goes on for others"),
                ("cut", "gets over handshakes and requests that end in the middle, and over those that wait"),
                ("versions", "is of version 1.2 or 1.3"),
                ("new_keys", "goes on with new keys, and does not renegotiate"),
            ])
        func withoutDevice(scenario: String, sentence: String) async throws {
            try await Workshop.open { shop in try await play(scenario, in: shop) }
        }

        @Test("a long answer reaches a client that reads late, also one that has ended its half of the connection")
        func slowReader() async throws {
            try await Workshop.open { shop in
                let token = try await shop.accessToken(try await shop.registered())
                // More than the lab's socket holds (tcp_wmem of tcp(7)).
                try await play("slow", in: shop, token, "\(6 << 20)")
            }
        }

        @Test("a long request arrives, however the client cuts it")
        func longRequest() async throws {
            try await Workshop.open { shop in
                let token = try await shop.accessToken(try await shop.registered())
                try await play("long_request", in: shop, token)
            }
        }

        @Test("a client whose certificate is refused is told so by an alert, even if it goes on speaking")
        func refused() async throws {
            try await Workshop.open { shop in
                let file = "\(shop.directory)/foreign.pem"
                // Certificate and key, one after the other.
                let request = "openssl req -x509 -newkey rsa:2048 -nodes -keyout - -subj /CN=x 2>/dev/null > \(file)"
                try await run("bash", ["-c", request])
                try await play("refused", in: shop, file)
            }
        }

        @Test("a session that goes on from an earlier one has the client certificate that was shown there")
        func resumed() async throws {
            try await Workshop.open { shop in
                let device = try await shop.registered()
                try await play("resumed", in: shop, device.identity, device.magIdentifier)
            }
        }

        /// Plays a scenario of the client in Python.
        private func play(_ scenario: String, in shop: Workshop, _ arguments: String...) async throws {
            let authority = "\(shop.directory)/ca.pem"
            try Data(shop.lab.caCertificatePEM.utf8).write(to: URL(fileURLWithPath: authority))
            do {
                try await run("python3", ["-B", Self.script, "\(shop.lab.port)", authority, scenario] + arguments)
            } catch let failure as ProgramFailure {
                Issue.record("\(scenario): \(failure.errors)")
            }
        }
    }
}
