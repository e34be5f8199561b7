import Foundation
import GatewayLab
import Groundwork
import Testing

extension GatewayLabTests {
    @Suite("Protected API and the end of tokens")
    struct ProtectedAPITests {
        @Test(
            "a missing, expired, narrow or disabled token is 401 with …992, …990, …991, …993 (MAG checklist 56)")
        func bearer() async throws {
            try await Workshop.open { shop in
                let device = try await shop.registered()
                let token = try await shop.accessToken(device, scope: "openid profile")
                func call(_ path: String, _ headers: [String: String]) async throws -> Curl.Reply {
                    try await shop.curl.send("GET", path, headers: headers)
                }
                let good = ["Authorization": "Bearer \(token)"]
                #expect(try await call("/lab/hello", good).status == 200)
                #expect(try await call("/lab/scoped/profile", good).status == 200)
                func refused(_ code: String, _ reply: Curl.Reply) {
                    #expect(reply.status == 401 && reply.errorCode == code && reply.header("WWW-Authenticate") != nil)
                }
                refused("3007992", try await call("/lab/hello", [:]))
                refused("3007992", try await call("/lab/hello", ["Authorization": ""]))
                refused("3007992", try await call("/lab/hello", ["Authorization": "Bearer a b"]))
                refused(
                    "3007992", try await call("/lab/hello", good.merging(["authorization": "Bearer x"]) { a, _ in a }))
                refused("3007990", try await call("/lab/hello", ["Authorization": "Bearer unknown"]))
                refused("3007991", try await call("/lab/scoped/mas_storage", good))
                let other = try await shop.registered("other")
                refused(
                    "3007990",
                    try await call("/lab/hello", good.merging(["mag-identifier": other.magIdentifier]) { a, _ in a }))
                let unknown = try await call("/lab/hello", good.merging(["mag-identifier": "nobody"]) { a, _ in a })
                #expect(unknown.status == 400 && unknown.errorCode == "3007107")
                try await shop.lab.disableTokens(of: device.magIdentifier)
                refused("3007993", try await call("/lab/hello", good))
                let late = ["Authorization": "Bearer \(try await shop.accessToken(device))"]
                shop.lab.advanceClock(by: .seconds(3601))
                refused("3007990", try await call("/lab/hello", late))
            }
        }

        @Test("echo returns what was sent, but not the token")
        func echo() async throws {
            try await Workshop.open { shop in
                let token = try await shop.accessToken(try await shop.registered())
                let reply = try await shop.curl.send(
                    "POST", "/lab/echo?a=b", headers: ["Authorization": "Bearer \(token)", "X-Color": "blue"],
                    body: Array("hello".utf8))
                #expect(
                    reply.json["headers"]?["x-color"] == "blue" && reply.json["query"] == "a=b"
                        && reply.json["body"] == "hello")
                #expect(!reply.text.contains(token))
            }
        }

        @Test("userinfo describes a user, and is 401 for a token without one (MAG 5.7)")
        func userinfo() async throws {
            try await Workshop.open { shop in
                let device = try await shop.registered()
                let user = try await login(shop, device, "openid profile email")
                let reply = try await shop.curl.send(
                    "GET", Endpoint.userinfo.path, headers: ["Authorization": "Bearer \(user.access)"])
                #expect(
                    reply.json["name"] == "Alice Archer" && reply.json["email"] == "alice@lab.test"
                        && reply.json["sub"] != "alice")
                let app = try await shop.accessToken(device)
                let refused = try await shop.curl.send(
                    "GET", Endpoint.userinfo.path, headers: ["Authorization": "Bearer \(app)"])
                #expect(refused.status == 401 && refused.errorCode?.hasSuffix("991") == true)
            }
        }

        @Test("revocation accepts DELETE and POST, query and form, and answers revoked (MAG checklist 60)")
        func revocation() async throws {
            try await Workshop.open { shop in
                let device = try await shop.registered()
                for (method, inQuery) in [("DELETE", true), ("POST", true), ("POST", false)] {
                    let user = try await login(shop, device)
                    let pairs = [("token", user.refresh), ("token_type_hint", "refresh_token")]
                    let query = "?" + pairs.map { "\($0.0)=\($0.1)" }.joined(separator: "&")
                    let reply = try await shop.curl.send(
                        method, Endpoint.revocation.path + (inQuery ? query : ""),
                        headers: ["Authorization": device.client.basic, "mag-identifier": device.magIdentifier],
                        form: inQuery ? nil : pairs)
                    #expect(reply.status == 200 && reply.json == ["result": "revoked"])
                    let again = try await shop.token(
                        device, [("grant_type", "refresh_token"), ("refresh_token", user.refresh)])
                    #expect(again.errorCode == "3003113")
                }
                func revoke(_ query: String, _ client: ClientPair) async throws -> Curl.Reply {
                    try await shop.curl.send(
                        "DELETE", Endpoint.revocation.path + query, headers: ["Authorization": client.basic])
                }
                let user = try await login(shop, device)
                #expect(try await revoke("", device.client).errorCode == "3004103")
                #expect(try await revoke("?token=x&token_type_hint=saml", device.client).errorCode == "3004118")
                #expect(try await revoke("?token=x", ClientPair(id: "x", secret: "y")).errorCode == "3004201")
                #expect(try await revoke("?token=unknown", device.client).json == ["result": "revoked"])
                let other = try await shop.registered("other")
                #expect(try await revoke("?token=\(user.refresh)", other.client).errorCode == "3004117")
            }
        }

        @Test("logout ends the session; logout_apps=true revokes all tokens of the device's apps (MAG checklist 61)")
        func logout() async throws {
            try await Workshop.open { shop in
                let device = try await shop.registered()
                let second = Registered(
                    board: device.board, client: try await shop.initialize(device.board),
                    magIdentifier: device.magIdentifier, identity: "")
                func logout(_ all: String, _ idToken: String) async throws -> Curl.Reply {
                    try await shop.curl.send(
                        "POST", Endpoint.logout.path,
                        headers: ["Authorization": device.client.basic, "mag-identifier": device.magIdentifier],
                        form: [
                            ("id_token", idToken), ("id_token_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"),
                            ("logout_apps", all),
                        ])
                }
                func hello(_ token: String) async throws -> Int {
                    try await shop.curl.send("GET", "/lab/hello", headers: ["Authorization": "Bearer \(token)"]).status
                }
                let first = try await login(shop, device)
                let app = try await shop.accessToken(second)
                #expect(try await logout("false", first.idToken).json == ["session_status": "logged out"])
                #expect(try await hello(first.access) == 401)
                #expect(try await hello(app) == 200)
                #expect(try await logout("false", first.idToken).errorCode == "3006103")
                let next = try await login(shop, device)
                let status = "\(Endpoint.sessionStatus.path)?id_token=\(next.idToken)"
                #expect(
                    try await shop.curl.send("GET", status, headers: ["Authorization": "Bearer \(app)"]).json == [
                        "session": "active"
                    ])
                #expect(try await logout("true", next.idToken).status == 200)
                #expect(try await hello(app) == 401)
                let later = ["Authorization": "Bearer \(try await shop.accessToken(device))"]
                #expect(try await shop.curl.send("GET", status, headers: later).json == ["session_status": "none"])
            }
        }

        @Test("a wrong method is 405 with Allow and no x-ca-err, an unknown path 404, a long body 413 (MAG 0.4)")
        func outsideTheProtocol() async throws {
            try await Workshop.open({ $0.prefix = "lab" }) { shop in
                let method = try await shop.curl.send("GET", Endpoint.token.path)
                #expect(method.status == 405 && method.header("Allow") == "POST" && method.errorCode == nil)
                let path = try await shop.curl.send("GET", "/no/such/path")
                #expect(path.status == 404 && path.errorCode == nil)
                let outside = try await shop.curl.send("GET", "https://localhost:\(shop.lab.port)/lab/hello")
                #expect(outside.status == 404)
                let long = try await shop.curl.send(
                    "POST", Endpoint.token.path, body: [UInt8](repeating: 65, count: 1 << 20 + 1))
                #expect(long.status == 413)
            }
        }

        @Test(
            "several slashes before a path count as one, because clients join a URL and a path", arguments: ["", "lab"])
        func slashes(prefix: String) async throws {
            try await Workshop.open({ $0.prefix = prefix }) { shop in
                let base = "https://localhost:\(shop.lab.port)"
                let below = prefix.isEmpty ? "" : "/\(prefix)"
                for path in ["/\(below)", "\(below)/", "//\(below)//"] {
                    let reply = try await shop.curl.send("GET", base + path + Endpoint.discovery.path)
                    #expect(reply.status == 200, "\(path)")
                }
                #expect(try await shop.curl.send("GET", base + "\(below)/openid//connect/jwks.json").status == 404)
            }
        }

        private func login(_ shop: Workshop, _ device: Registered, _ scope: String = MasterClient.defaultScope)
            async throws
            -> (access: String, refresh: String, idToken: String)
        {
            let reply = try await shop.token(
                device,
                [("grant_type", "password"), ("username", "alice"), ("password", "alice-password"), ("scope", scope)])
            guard let access = reply.json["access_token"]?.string, let refresh = reply.json["refresh_token"]?.string
            else {
                throw Unexpected(reply: reply)
            }
            return (access, refresh, reply.json["id_token"]?.string ?? "")
        }
    }
}
