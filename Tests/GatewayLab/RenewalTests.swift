import Foundation
import GatewayLab
import Groundwork
import Testing

extension GatewayLabTests {
    @Suite("Renewal and removal")
    struct RenewalTests {
        @Test("renewal gives a new certificate for the same key, without a request (MAG checklist 58)")
        func renews() async throws {
            try await Workshop.open { shop in
                let device = try await shop.registered()
                let before = try #require(await shop.lab.devices().first)
                shop.lab.advanceClock(by: .seconds(86_400))
                let reply = try await renew(shop, device, identity: device.identity)
                #expect(reply.status == 200 && reply.header("Content-Type") == "text/plain")
                #expect(reply.header("mag-identifier") == device.magIdentifier)
                let renewed = try shop.identity(device.board, reply.text)
                let keys = try await run(
                    "bash",
                    [
                        "-c",
                        "for f in \(device.identity) \(renewed); do openssl x509 -in $f -noout -pubkey; done | sort | uniq -c | awk '$1 % 2 {exit 1}'",
                    ])
                #expect(keys.output.isEmpty)
                let after = try #require(await shop.lab.devices().first)
                #expect(
                    after.certificateSerial != before.certificateSerial
                        && after.certificateEnds > before.certificateEnds)
                // Both are good until they end.
                #expect(try await renew(shop, device, identity: renewed).status == 200)
            }
        }

        @Test("renewal and removal need the device's own certificate and its mag-identifier (MAG checklist 57)")
        func needCertificate() async throws {
            try await Workshop.open { shop in
                let device = try await shop.registered()
                let other = try await shop.registered("other")
                let cases: [(String, Endpoint, String?, String?, String)] = [
                    ("PUT", .renewal, device.magIdentifier, nil, "1000101"),
                    ("PUT", .renewal, device.magIdentifier, other.identity, "1000107"),
                    ("PUT", .renewal, "nobody", device.identity, "1000107"),
                    ("PUT", .renewal, nil, device.identity, "1000103"),
                    ("DELETE", .removal, device.magIdentifier, nil, "1001103"),
                    ("DELETE", .removal, device.magIdentifier, other.identity, "1001107"),
                    ("DELETE", .removal, "nobody", device.identity, "1001107"),
                    ("DELETE", .removal, nil, device.identity, "1001101"),
                ]
                for (method, endpoint, mag, identity, code) in cases {
                    let reply = try await shop.curl.send(
                        method, endpoint.path,
                        headers: mag.map { ["mag-identifier": $0, "cert-format": "pem"] } ?? [:], identity: identity)
                    #expect(reply.status == 400 && reply.errorCode == code, "\(endpoint) \(mag ?? "none")")
                }
                #expect(await shop.lab.devices().count == 2)
            }
        }

        @Test("a client certificate of a foreign CA fails the handshake")
        func foreignCertificate() async throws {
            try await Workshop.open { shop in
                let file = "\(shop.directory)/foreign.pem"
                try await run(
                    "bash",
                    [
                        "-c",
                        "openssl req -x509 -newkey rsa:2048 -nodes -keyout \(file).key -out \(file) -subj /CN=x 2>/dev/null && cat \(file).key >> \(file)",
                    ])
                await #expect(throws: ProgramFailure.self) {
                    try await shop.curl.send("GET", "/lab/hello", identity: file)
                }
            }
        }

        @Test("removal deletes the device, its tokens and its sessions; later calls are …107 (MAG checklist 59)")
        func removes() async throws {
            try await Workshop.open({ $0.givesSessionsToClients = true }) { shop in
                let device = try await shop.registered()
                let answer = try await shop.token(device, [("grant_type", "client_credentials")]).json
                let reply = try await shop.curl.send(
                    "DELETE", Endpoint.removal.path, headers: ["mag-identifier": device.magIdentifier],
                    identity: device.identity)
                #expect(reply.status == 200 && reply.body.isEmpty)
                #expect(await shop.lab.devices().isEmpty)
                #expect(await shop.lab.accessTokens().isEmpty)
                let token = try #require(answer["access_token"]?.string)
                let call = try await shop.curl.send("GET", "/lab/hello", headers: ["Authorization": "Bearer \(token)"])
                #expect(call.status == 401 && call.errorCode == "3007990")
                let later = try await shop.token(
                    device, [("grant_type", "refresh_token"), ("refresh_token", answer["refresh_token"]?.string ?? "")])
                #expect(later.status == 400 && later.errorCode == "3003107")
                let again = try await shop.curl.send(
                    "DELETE", Endpoint.removal.path, headers: ["mag-identifier": device.magIdentifier],
                    identity: device.identity)
                #expect(again.status == 400 && again.errorCode == "1001107")
            }
        }

        @Test("an expired client certificate is 401 with …206 everywhere except at renewal (MAG checklist 55)")
        func ended() async throws {
            try await Workshop.open({ $0.lives.deviceCertificate = 40 * 86_400 }) { shop in
                let device = try await shop.registered()
                shop.lab.advanceClock(by: .seconds(41 * 86_400))
                let client = try await shop.initialize(device.board)
                let late = Registered(
                    board: device.board, client: client, magIdentifier: device.magIdentifier, identity: device.identity)
                let token = try await shop.token(late, [("grant_type", "client_credentials")])
                #expect(token.status == 401 && token.errorCode == "3003206")
                let shown = try await shop.curl.send(
                    "POST", Endpoint.token.path, headers: ["mag-identifier": device.magIdentifier],
                    form: [
                        ("grant_type", "client_credentials"), ("client_id", client.id),
                        ("client_secret", client.secret),
                    ], identity: device.identity)
                #expect(shown.status == 401 && shown.errorCode == "3003206")
                let removal = try await shop.curl.send(
                    "DELETE", Endpoint.removal.path, headers: ["mag-identifier": device.magIdentifier],
                    identity: device.identity)
                #expect(removal.status == 401 && removal.errorCode == "1001206")
                let renewal = try await renew(shop, device, identity: device.identity)
                #expect(renewal.status == 200)
                #expect(try await shop.token(late, [("grant_type", "client_credentials")]).status == 200)
            }
        }

        private func renew(_ shop: Workshop, _ device: Registered, identity: String) async throws -> Curl.Reply {
            try await shop.curl.send(
                "PUT", Endpoint.renewal.path, headers: ["mag-identifier": device.magIdentifier, "cert-format": "pem"],
                identity: identity)
        }
    }
}
