import Foundation
import GatewayLab
import Groundwork
import Testing

extension GatewayLabTests {
    @Suite("Client initialization and device registration")
    struct RegistrationTests {
        @Test("a board initializes, registers and calls the API without a client certificate (MAG checklist 68)")
        func wholeLine() async throws {
            try await Workshop.open { shop in
                let device = try await shop.registered()
                let token = try await shop.accessToken(device)
                let reply = try await shop.curl.send(
                    "GET", "/lab/hello",
                    headers: ["Authorization": "Bearer \(token)", "mag-identifier": device.magIdentifier])
                #expect(reply.status == 200)
                #expect(reply.json["device"]?.string == "board-id")
                #expect(
                    shop.lab.requestCounts == [.clientInitialization: 1, .clientRegistration: 1, .token: 1, .hello: 1])
                #expect(shop.lab.connections == 4)
            }
        }

        @Test("initialization returns id, secret and expiration, or 1002109 for an unknown id (MAG checklist 47)")
        func initialization() async throws {
            try await Workshop.open { shop in
                func initialize(_ form: [(String, String)], _ headers: [String: String] = ["device-id": "Ym9hcmQ="])
                    async throws -> Curl.Reply
                {
                    try await shop.curl.send("POST", "/connect/client/initialize", headers: headers, form: form)
                }
                let master = MasterClient.agent.clientID
                let reply = try await initialize([("client_id", master), ("nonce", "7")])
                #expect(reply.status == 200 && reply.header("Content-Type") == "application/json")
                #expect(reply.header("Cache-Control") == "no-store" && reply.header("Pragma") == "no-cache")
                let ends = try #require(reply.json["client_expiration"]?.integer)
                #expect(abs(ends - Int64(Date().timeIntervalSince1970) - 30 * 86_400) < 600)
                #expect(
                    reply.json["client_id"]?.string?.isEmpty == false
                        && reply.json["client_secret"]?.string?.isEmpty == false)

                let faults: [(Curl.Reply, String, Int)] = [
                    (try await initialize([("client_id", "other"), ("nonce", "7")]), "1002109", 400),
                    (try await initialize([("client_id", master)]), "1002103", 400),
                    (try await initialize([("client_id", master), ("nonce", "7")], [:]), "1002103", 400),
                    (
                        try await initialize([("client_id", master), ("client_id", master), ("nonce", "7")]), "1002103",
                        400
                    ),
                    (
                        try await initialize(
                            [("client_id", master), ("nonce", "7")],
                            ["device-id": "Ym9hcmQ=", "client-authorization": ClientPair(id: "x", secret: "y").basic]),
                        "1002201", 401
                    ),
                    (
                        try await initialize(
                            [("client_id", master), ("nonce", "7")],
                            ["device-id": "Ym9hcmQ=", "mag-identifier": "nobody"]), "1002107", 400
                    ),
                ]
                for (reply, code, status) in faults { #expect(reply.errorCode == code && reply.status == status) }
            }
        }

        @Test("a lifetime of 0 gives client credentials that never expire (MAG checklist 47)")
        func endlessCredentials() async throws {
            try await Workshop.open({ $0.lives.clientCredentials = 0 }) { shop in
                let board = try await shop.board()
                let client = try await shop.initialize(board)
                shop.lab.advanceClock(by: .seconds(5 * 366 * 86_400))
                #expect(try await shop.register(board, client).status == 200)
            }
        }

        @Test("a registration request may have either alphabet, lines, PEM, any type and case (MAG checklist 48)")
        func encodings() async throws {
            try await Workshop.open { shop in
                let board = try await shop.board()
                let client = try await shop.initialize(board)
                let standard = Base64.encode(board.request)
                let lines = standard.indices.enumerated().reduce(into: "") { text, next in
                    text.append(standard[next.element])
                    if next.offset % 64 == 63 { text += "\r\n" }
                }
                let pem = "-----BEGIN CERTIFICATE REQUEST-----\n\(lines)\n-----END CERTIFICATE REQUEST-----\n"
                let bodies = [
                    Base64.encode(board.request, alphabet: .urlSafe),
                    Base64.encode(board.request, alphabet: .urlSafe, padded: true),
                    standard, lines, pem,
                ]
                var seen: Set<String> = []
                for (body, type) in zip(
                    bodies,
                    ["text/plain", "application/x-www-form-urlencoded", "application/json", "text/plain", "x/y"])
                {
                    let reply = try await shop.register(
                        board, client, headers: ["Content-Type": type], body: Array(body.utf8))
                    #expect(reply.status == 200)
                    seen.insert(reply.header("mag-identifier") ?? "none")
                }
                // The same device with the same key stays the same device.
                #expect(seen.count == 1 && !seen.contains("none"))
                let shouted = try await shop.curl.send(
                    "POST", Endpoint.clientRegistration.path,
                    headers: [
                        "CLIENT-AUTHORIZATION": client.basic, "Device-ID": board.encodedID, "DEVICE-NAME": "Qg==",
                        "Cert-Format": "pem",
                    ],
                    body: Array(standard.utf8))
                #expect(shouted.status == 200)
            }
        }

        @Test("a registration answer is text with a PEM certificate, lower-case headers (MAG checklist 49, 67)")
        func answer() async throws {
            try await Workshop.open { shop in
                let board = try await shop.board()
                let client = try await shop.initialize(board)
                let reply = try await shop.register(board, client)
                #expect(reply.status == 200 && reply.header("Content-Type") == "text/plain")
                #expect(reply.header("device-status") == "activated")
                #expect(reply.headers.count { $0.name == "mag-identifier" } == 1)
                #expect(reply.header("id-token") == nil && reply.header("id-token-type") == nil)
                #expect(reply.text.split(separator: "-----BEGIN CERTIFICATE-----").count == 1)
                let session = try await shop.register(board, client, headers: ["create-session": "true"])
                #expect(session.header("id-token-type") == "urn:ietf:params:oauth:grant-type:jwt-bearer")
                #expect(session.header("id-token")?.split(separator: ".").count == 3)
            }
        }

        @Test(
            "a registration's certificate is for the request's key, names the device, lasts a year (MAG checklist 50)")
        func certificate() async throws {
            try await Workshop.open { shop in
                let device = try await shop.registered()
                let file = device.identity
                let subject = try await run(
                    "openssl", ["x509", "-in", file, "-noout", "-subject", "-nameopt", "RFC2253"]
                ).output
                #expect(
                    subject.contains("OU=board-id") && subject.contains("CN=clientName")
                        && subject.contains("O=Latchkey Lab"))
                let keys = try await run(
                    "bash",
                    ["-c", "openssl x509 -in \(file) -noout -pubkey; openssl pkey -in \(device.board.keyFile) -pubout"]
                ).output
                let halves = keys.split(separator: "-----BEGIN PUBLIC KEY-----")
                #expect(halves.count == 2 && halves[0] == halves[1])
                // Fails when it ends within 364 days.
                try await run("openssl", ["x509", "-in", file, "-noout", "-checkend", "\(364 * 86_400)"])
                let record = try #require(await shop.lab.devices().first)
                #expect(
                    record.deviceID == "board-id" && record.magIdentifier == device.magIdentifier && record.user == nil)
            }
        }

        @Test("a device id with another key or another flow is already registered (MAG 4.5)")
        func alreadyRegistered() async throws {
            try await Workshop.open { shop in
                let device = try await shop.registered()
                let rival = try await shop.board()
                let byKey = try await shop.register(rival, device.client)
                #expect(byKey.status == 400 && byKey.errorCode == "1007105")
                let byUser = try await shop.curl.send(
                    "POST", Endpoint.registration.path,
                    headers: [
                        "client-authorization": device.client.basic,
                        "authorization": "Basic " + Base64.encode("alice:alice-password".utf8),
                        "device-id": device.board.encodedID, "device-name": "Qg==", "cert-format": "pem",
                    ],
                    body: Array(Base64.encode(device.board.request).utf8))
                #expect(byUser.status == 400 && byUser.errorCode == "1000105")
                #expect(await shop.lab.devices().count == 1)
            }
        }

        @Test("a registration with wrong credentials, headers or body has the codes of MAG 4.5 (MAG checklist 55)")
        func faults() async throws {
            try await Workshop.open { shop in
                let board = try await shop.board()
                let client = try await shop.initialize(board)
                let foreign = try await shop.board("board", organization: "Somebody Else")
                let cases: [(String, Int, [String: String], [UInt8]?)] = [
                    ("1007201", 401, ["client-authorization": ClientPair(id: client.id, secret: "wrong").basic], nil),
                    ("1007201", 401, ["client-authorization": ""], nil),
                    ("1007103", 400, ["device-id": "not base64!"], nil), ("1007103", 400, ["device-name": ""], nil),
                    ("1007102", 400, ["cert-format": "der"], nil), ("1007104", 400, [:], Array("garbage".utf8)),
                    ("1007104", 400, [:], []), ("1007104", 400, ["device-id": Base64.encode("another".utf8)], nil),
                    ("1007104", 400, [:], Array(Base64.encode(foreign.request).utf8)),
                ]
                for (code, status, headers, body) in cases {
                    let reply = try await shop.register(board, client, headers: headers, body: body)
                    #expect(reply.errorCode == code && reply.status == status, "\(headers) \(reply.text)")
                    #expect((reply.header("WWW-Authenticate") != nil) == (status == 401))
                }
                #expect(await shop.lab.devices().isEmpty)
                let badUser = try await shop.curl.send(
                    "POST", Endpoint.registration.path,
                    headers: [
                        "client-authorization": client.basic,
                        "authorization": "Basic " + Base64.encode("alice:wrong".utf8),
                    ], body: [])
                #expect(badUser.status == 401 && badUser.errorCode == "1000202")
            }
        }

        @Test("a user registers by password and gets a session (MAG checklist 49, 50, 51)")
        func byUser() async throws {
            try await Workshop.open { shop in
                let board = try await shop.board("tablet", commonName: "alice")
                let client = try await shop.initialize(board)
                let reply = try await shop.curl.send(
                    "POST", Endpoint.registration.path,
                    headers: [
                        "client-authorization": client.basic,
                        "authorization": "Basic " + Base64.encode("alice:alice-password".utf8),
                        "device-id": board.encodedID, "device-name": "VA==", "cert-format": "pem",
                        "create-session": "true",
                    ],
                    body: Array(Base64.encode(board.request).utf8))
                #expect(reply.status == 200)
                let token = try #require(reply.header("id-token"))
                let claims = try JSON(
                    parsing: try #require(Base64.decode(String(token.split(separator: ".")[1]), alphabet: .urlSafe)))
                #expect(claims["aud"] == .string(client.id) && claims["sub"] == "alice")
                #expect(claims["azp"]?.string == reply.header("mag-identifier"))
                #expect(await shop.lab.devices().first?.user == "alice")
            }
        }

        @Test("a lab with manual activation answers registered, and …108 until an administrator activates")
        func activation() async throws {
            try await Workshop.open({ $0.activatesDevices = false }) { shop in
                let device = try await shop.registered()
                let early = try await shop.token(device, [("grant_type", "client_credentials")])
                #expect(early.status == 400 && early.errorCode == "3003108")
                try await shop.lab.activate(magIdentifier: device.magIdentifier)
                #expect(try await shop.token(device, [("grant_type", "client_credentials")]).status == 200)
            }
        }

        @Test("a device-id or a name that does not fit a certificate is 400: a retry would not help (MAG 4.3)")
        func cannotBeCertified() async throws {
            try await Workshop.open { shop in
                var board = try await shop.board()
                let client = try await shop.initialize(board)
                for (id, component, status, code) in [
                    (String(repeating: "d", count: 65), "lab", 400, "1007103"),
                    // A domain component has no letters beyond ASCII.
                    ("board-id", "Türschloss", 400, "1007104"),
                    (String(repeating: "d", count: 64), "lab", 200, nil as String?),
                ] {
                    board.deviceID = id
                    board.request = try await Self.request(
                        unit: id, component: component, keyFile: board.keyFile, in: shop)
                    let reply = try await shop.register(board, client)
                    #expect(reply.status == status && reply.errorCode == code, "\(reply.text)")
                }
            }
        }

        /// A signing request with a subject that the openssl program refuses to write.
        private static func request(unit: String, component: String, keyFile: String, in shop: Workshop) async throws
            -> [UInt8]
        {
            let script = """
                import sys
                from cryptography import x509
                from cryptography.hazmat.primitives import hashes, serialization
                from cryptography.x509.name import _ASN1Type
                unit, component, key, out = sys.argv[1:]
                parts = [("2.5.4.3", "clientName"), ("2.5.4.11", unit), ("0.9.2342.19200300.100.1.25", component),
                         ("2.5.4.10", "Latchkey Lab")]
                text = _ASN1Type.UTF8String
                name = x509.Name([x509.NameAttribute(x509.ObjectIdentifier(oid), value, text, _validate=False)
                                  for oid, value in parts])
                key = serialization.load_pem_private_key(open(key, "rb").read(), None)
                request = x509.CertificateSigningRequestBuilder().subject_name(name).sign(key, hashes.SHA256())
                open(out, "wb").write(request.public_bytes(serialization.Encoding.DER))
                """
            let path = "\(shop.directory)/\(UUID().uuidString).csr"
            try await run("python3", ["-c", script, unit, component, keyFile, path])
            return Array(try Data(contentsOf: URL(fileURLWithPath: path)))
        }
    }
}
