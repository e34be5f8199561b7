import Foundation
import GatewayLab
import Groundwork
import Testing

extension GatewayLabTests {
    @Suite("Token endpoint")
    struct TokenTests {
        @Test(
            "client credentials give only an access token, with the registered requested scopes (MAG 5.2)")
        func clientCredentials() async throws {
            try await Workshop.open { shop in
                let device = try await shop.registered()
                let reply = try await shop.token(
                    device, [("grant_type", "client_credentials"), ("scope", "openid msso unknown mas_messaging")])
                #expect(reply.status == 200 && reply.header("Content-Type") == "application/json")
                #expect(reply.header("Cache-Control") == "no-store")
                #expect(reply.json["token_type"] == "Bearer" && reply.json["expires_in"] == 3600)
                #expect(reply.json["scope"] == "openid msso mas_messaging")
                #expect(reply.json.object?.keys.sorted() == ["access_token", "expires_in", "scope", "token_type"])
            }
        }

        @Test("the client comes from the form, else from Basic; an empty Authorization is none (MAG checklist 53)")
        func clientAuthentication() async throws {
            try await Workshop.open { shop in
                let device = try await shop.registered()
                let grant = [("grant_type", "client_credentials")]
                let form = grant + [("client_id", device.client.id), ("client_secret", device.client.secret)]
                let wrong = ClientPair(id: device.client.id, secret: "wrong")
                let cases: [([(String, String)], String?, Int)] = [
                    (form, nil, 200), (form, "", 200), (form, wrong.basic, 200), (grant, device.client.basic, 200),
                    (grant, wrong.basic, 401), (grant, nil, 401), (grant, "", 401),
                    (grant + [("client_id", wrong.id), ("client_secret", wrong.secret)], device.client.basic, 401),
                ]
                for (form, authorization, status) in cases {
                    var headers = ["mag-identifier": device.magIdentifier]
                    headers["authorization"] = authorization
                    let reply = try await shop.curl.send("POST", Endpoint.token.path, headers: headers, form: form)
                    #expect(
                        reply.status == status && (status == 200 || reply.errorCode == "3003201"),
                        "\(form) \(authorization ?? "none")")
                }
            }
        }

        @Test("a master client with a static secret needs no initialization (MAG 3)")
        func staticClient() async throws {
            let fixed = MasterClient(clientID: "fixed", staticSecret: "fixed-secret")
            try await Workshop.open({ $0.masterClients = [fixed] }) { shop in
                let board = try await shop.board()
                let pair = ClientPair(id: "fixed", secret: "fixed-secret")
                let reply = try await shop.register(board, pair)
                let device = Registered(
                    board: board, client: pair, magIdentifier: reply.header("mag-identifier") ?? "", identity: "")
                #expect(try await shop.token(device, [("grant_type", "client_credentials")]).status == 200)
                let document = try JSON(parsing: try await shop.lab.configurationDocument())
                #expect(document["oauth"]?["client"]?["client_ids"]?[0]?["client_secret"] == "fixed-secret")
            }
        }

        @Test("each fault of a token request has its code of MAG 5.4 (MAG checklist 55)")
        func faults() async throws {
            try await Workshop.open { shop in
                let device = try await shop.registered()
                func password(_ name: String, _ password: String) -> [(String, String)] {
                    [("grant_type", "password"), ("username", name), ("password", password)]
                }
                let cases: [(String, Int, [(String, String)], [String: String])] = [
                    ("3003101", 400, [("grant_type", "client_credentials")], ["mag-identifier": ""]),
                    ("3003107", 400, [("grant_type", "client_credentials")], ["mag-identifier": "nobody"]),
                    ("3003103", 400, [], [:]),
                    ("3003103", 400, [("grant_type", "password"), ("grant_type", "password")], [:]),
                    ("3003103", 400, [("grant_type", "refresh_token")], [:]),
                    ("3003113", 400, [("grant_type", "refresh_token"), ("refresh_token", "unknown")], [:]),
                    ("3003113", 400, [("grant_type", "authorization_code"), ("code", "x")], [:]),
                    ("3003115", 400, [("grant_type", "client_credentials"), ("scope", "unknown")], [:]),
                    ("3003119", 400, [("grant_type", "urn:ietf:params:oauth:grant-type:saml2-bearer")], [:]),
                    ("3003202", 401, password("alice", "wrong"), [:]), ("3003202", 401, password("nobody", "x"), [:]),
                    (
                        "3003113", 400,
                        [("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"), ("assertion", "a.b.c")], [:]
                    ),
                ]
                for (code, status, form, headers) in cases {
                    let reply = try await shop.token(device, form, headers: headers)
                    #expect(reply.errorCode == code && reply.status == status, "\(form) \(reply.text)")
                }
                shop.lab.advanceClock(by: .seconds(31 * 86_400))
                #expect(try await shop.token(device, [("grant_type", "client_credentials")]).errorCode == "3003201")
            }
        }

        @Test("refresh tokens are used once; a second use is 400 with 3003113 (MAG checklist 54)")
        func refresh() async throws {
            try await Workshop.open { shop in
                let device = try await shop.registered()
                let login = try await shop.token(
                    device, [("grant_type", "password"), ("username", "alice"), ("password", "alice-password")])
                let first = try #require(login.json["refresh_token"]?.string)
                let refreshed = try await shop.token(
                    device, [("grant_type", "refresh_token"), ("refresh_token", first)])
                let second = try #require(refreshed.json["refresh_token"]?.string)
                #expect(refreshed.status == 200 && second != first)
                let again = try await shop.token(device, [("grant_type", "refresh_token"), ("refresh_token", first)])
                #expect(again.status == 400 && again.errorCode == "3003113")
                let other = try await shop.registered("other")
                let stolen = try await shop.token(other, [("grant_type", "refresh_token"), ("refresh_token", second)])
                #expect(stolen.errorCode == "3003113")
                shop.lab.advanceClock(by: .seconds(shop.lab.configuration.lives.refreshToken + 1))
                #expect(
                    try await shop.token(device, [("grant_type", "refresh_token"), ("refresh_token", second)]).errorCode
                        == "3003113")
            }
        }

        @Test("id_tokens are HS256 with the client secret: string aud, azp, integer exp (MAG checklist 51)")
        func sharedSecretToken() async throws {
            try await Workshop.open { shop in
                let device = try await shop.registered()
                let (token, claims) = try await idToken(shop, device)
                #expect(claims["aud"] == .string(device.client.id) && claims["azp"] == .string(device.magIdentifier))
                #expect(claims["exp"]?.integer != nil && claims["iss"] == .string(shop.lab.baseURL + "/connect"))
                let parts = token.split(separator: ".").map(String.init)
                let mac = try await run(
                    "openssl", ["dgst", "-sha256", "-hmac", device.client.secret, "-r"],
                    input: Array("\(parts[0]).\(parts[1])".utf8))
                let expected = try #require(Base64.decode(parts[2], alphabet: .urlSafe))
                #expect(mac.output.hasPrefix(Hex.encode(expected)))
            }
        }

        @Test("an id_token by RS256 has its key in the JWKS by kid, with n, e and x5c (MAG checklist 51, 52)")
        func publishedKey() async throws {
            try await Workshop.open({ $0.idTokenAlgorithm = .rs256 }) { shop in
                let device = try await shop.registered()
                let (token, _) = try await idToken(shop, device)
                let parts = token.split(separator: ".").map(String.init)
                let header = try JSON(parsing: try #require(Base64.decode(parts[0], alphabet: .urlSafe)))
                #expect(header["alg"] == "RS256")
                let discovery = try await shop.curl.send("GET", "/.well-known/openid-configuration")
                #expect(discovery.header("Content-Type") == "application/json")
                let keySet = try await shop.curl.send("GET", try #require(discovery.json["jwks_uri"]?.string))
                let key = try #require(keySet.json["keys"]?.array?.first { $0["kid"] == header["kid"] })
                #expect(key["kty"] == "RSA" && key["e"] == "AQAB" && key["n"]?.string?.count == 342)
                let certificate = try #require(key["x5c"]?[0]?.string.flatMap { Base64.decode($0) })
                let base = shop.directory + "/jwt"
                try Data(certificate).write(to: URL(fileURLWithPath: base + ".der"))
                try Data(try #require(Base64.decode(parts[2], alphabet: .urlSafe))).write(
                    to: URL(fileURLWithPath: base + ".sig"))
                try await run(
                    "openssl",
                    ["x509", "-inform", "DER", "-in", base + ".der", "-pubkey", "-noout", "-out", base + ".pub"])
                let verdict = try await run(
                    "openssl", ["dgst", "-sha256", "-verify", base + ".pub", "-signature", base + ".sig"],
                    input: Array("\(parts[0]).\(parts[1])".utf8))
                #expect(verdict.output == "Verified OK\n")
            }
        }

        @Test("an id_token gives tokens to another client of the same device, and to no other device (MAG 12.1)")
        func assertion() async throws {
            try await Workshop.open { shop in
                let device = try await shop.registered()
                let stranger = try await shop.registered("stranger")
                let (token, _) = try await idToken(shop, device)
                let grant = [
                    ("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"), ("assertion", token),
                    ("scope", "openid profile"),
                ]
                let second = Registered(
                    board: device.board, client: try await shop.initialize(device.board),
                    magIdentifier: device.magIdentifier, identity: "")
                let reply = try await shop.token(second, grant)
                #expect(reply.status == 200 && reply.json["refresh_token"] != nil)
                let bearer = ["Authorization": "Bearer \(reply.json["access_token"]?.string ?? "")"]
                #expect(
                    try await shop.curl.send("GET", Endpoint.userinfo.path, headers: bearer).json["preferred_username"]
                        == "alice")
                #expect(try await shop.token(stranger, grant).errorCode == "3003113")
                let forged = token.dropLast(4) + "AAAA"
                #expect(try await shop.token(second, [grant[0], ("assertion", String(forged))]).errorCode == "3003113")
            }
        }

        private func idToken(_ shop: Workshop, _ device: Registered) async throws -> (String, JSON) {
            let reply = try await shop.token(
                device,
                [
                    ("grant_type", "password"), ("username", "alice"), ("password", "alice-password"),
                    ("scope", "openid msso"),
                ])
            #expect(reply.json["id_token_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer")
            let token = try #require(reply.json["id_token"]?.string)
            let payload = try #require(Base64.decode(String(token.split(separator: ".")[1]), alphabet: .urlSafe))
            return (token, try JSON(parsing: payload))
        }
    }
}
