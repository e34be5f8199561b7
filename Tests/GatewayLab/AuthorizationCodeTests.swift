import Foundation
import GatewayLab
import Groundwork
import Testing

extension GatewayLabTests {
    @Suite("Authorization sessions and codes")
    struct AuthorizationCodeTests {
        @Test("a request that cannot start a session at E3 has the codes of MAG 5.6 and 6.4 (MAG checklist 62)")
        func sessionFaults() async throws {
            let bare = MasterClient(clientID: "bare", redirectURI: "")
            try await Workshop.open({ $0.masterClients.append(bare) }) { shop in
                let client = try await shop.initialize(try await shop.board())
                let challenge = try await shop.challenge(UUID().uuidString + UUID().uuidString)
                let good = [
                    "client_id": client.id, "response_type": "code", "display": "social_login",
                    "redirect_uri": Workshop.redirectURI, "code_challenge": challenge, "code_challenge_method": "S256",
                ]
                let cases: [(String, Int, [String: String?])] = [
                    ("3000201", 401, ["client_id": "nobody"]), ("3000201", 401, ["client_id": nil]),
                    ("3000103", 400, ["display": nil]), ("3000103", 400, ["display": "page"]),
                    ("3000116", 400, ["response_type": "token"]), ("3000116", 400, ["response_type": nil]),
                    ("3000114", 400, ["redirect_uri": "https://evil.test/"]),
                    ("3000112", 400, ["code_challenge_method": "plain"]),
                    ("3000112", 400, ["code_challenge_method": nil]), ("3000112", 400, ["code_challenge": nil]),
                    ("3000112", 400, ["code_challenge": String(challenge.dropLast())]),
                    ("3000112", 400, ["code_challenge": challenge + "="]),
                    ("3000115", 400, ["scope": "unknown"]), ("3000107", 400, ["mag-identifier": "nobody"]),
                    ("3000103", 400, ["state": String(repeating: "s", count: 513)]),
                    ("3000130", 400, ["client_id": "bare", "redirect_uri": nil]),
                ]
                for (code, status, changes) in cases {
                    let query = good.mapValues(Optional.some).merging(changes) { _, mine in mine }
                    let reply = try await shop.e3(query.compactMap { pair in pair.value.map { (pair.key, $0) } })
                    #expect(reply.status == status && reply.errorCode == code, "\(changes) \(reply.text)")
                }
                let twice = try await shop.e3(good.map { ($0.key, $0.value) } + [("state", "a"), ("state", "b")])
                #expect(twice.errorCode == "3000103")
                let unknown = try await shop.e3(good.map { ($0.key, $0.value) }, headers: ["mag-identifier": "nobody"])
                #expect(unknown.errorCode == "3000107")
                let scopeless = try await shop.e3(good.map { ($0.key, $0.value) })
                #expect(scopeless.status == 200 && scopeless.json["providers"]?.array?.count == 6)
            }
        }

        @Test("a code at E8 is for one client, its redirect_uri and its verifier (MAG checklist 63, MAG 5.6)")
        func tokenFaults() async throws {
            try await Workshop.open { shop in
                let phone = try await shop.phone()
                let board = try await shop.registered()
                let cases: [(String, [String: String?])] = [
                    ("3003113", ["code_verifier": String(repeating: "x", count: 64)]),
                    ("3003113", ["code_verifier": nil]), ("3003113", ["code_verifier": "short"]),
                    ("3003113", ["redirect_uri": "latchkey://elsewhere"]), ("3003113", ["code": "unknown"]),
                    ("3003103", ["redirect_uri": nil]), ("3003103", ["code": nil]),
                    ("3003115", ["scope": "mas_storage"]),
                ]
                for (code, changes) in cases {
                    let attempt = try await shop.attempt(board.client)
                    let reply = try await shop.redeem(
                        try await shop.code(attempt, by: phone), attempt, on: board, changing: changes)
                    #expect(reply.status == 400 && reply.errorCode == code, "\(changes) \(reply.text)")
                }
                let attempt = try await shop.attempt(board.client, headers: ["mag-identifier": board.magIdentifier])
                let code = try await shop.code(attempt, by: phone)
                let thief = try await shop.registered("thief")
                #expect(try await shop.redeem(code, attempt, on: thief).errorCode == "3003113")
                // Another client's try has not spoilt it; the same client on another device has.
                let borrowed = Registered(
                    board: thief.board, client: board.client, magIdentifier: thief.magIdentifier, identity: "")
                #expect(try await shop.redeem(code, attempt, on: borrowed).errorCode == "3003113")
                #expect(try await shop.redeem(code, attempt, on: board).errorCode == "3003113")
                let narrow = try await shop.attempt(board.client)
                let narrowed = try await shop.redeem(
                    try await shop.code(narrow, by: phone), narrow, on: board, changing: ["scope": "openid mas_storage"]
                )
                #expect(narrowed.status == 200 && narrowed.json["scope"] == "openid")
            }
        }

        @Test("a wrong verifier uses a code up; a second use revokes tokens (MAG checklist 63, RFC 6749 section 4.1.2)")
        func once() async throws {
            try await Workshop.open { shop in
                let phone = try await shop.phone()
                let board = try await shop.registered()
                let guessed = try await shop.attempt(board.client)
                let first = try await shop.code(guessed, by: phone)
                let wrong = ["code_verifier": String(repeating: "x", count: 64)]
                #expect(try await shop.redeem(first, guessed, on: board, changing: wrong).errorCode == "3003113")
                #expect(try await shop.redeem(first, guessed, on: board).errorCode == "3003113")

                let attempt = try await shop.attempt(board.client)
                let code = try await shop.code(attempt, by: phone)
                let tokens = try await shop.redeem(code, attempt, on: board)
                let bearer = ["Authorization": "Bearer \(tokens.json["access_token"]?.string ?? "")"]
                #expect(try await shop.curl.send("GET", "/lab/hello", headers: bearer).status == 200)
                #expect(try await shop.redeem(code, attempt, on: board).errorCode == "3003113")
                #expect(try await shop.curl.send("GET", "/lab/hello", headers: bearer).errorCode == "3007990")
                let refresh = tokens.json["refresh_token"]?.string ?? ""
                let refreshed = try await shop.token(
                    board, [("grant_type", "refresh_token"), ("refresh_token", refresh)])
                #expect(refreshed.errorCode == "3003113")
            }
        }

        @Test("a code obtained with msso_register works only at E4, one without it only at E8 (MAG 7.2)")
        func registrationScope() async throws {
            try await Workshop.open { shop in
                let phone = try await shop.phone()
                let board = try await shop.registered()
                let registering = try await shop.attempt(board.client, scope: "openid msso msso_register")
                let code = try await shop.code(registering, by: phone)
                #expect(try await shop.redeem(code, registering, on: board).errorCode == "3003113")

                let tablet = try await shop.board("tablet", commonName: "socialLogin")
                let client = try await shop.initialize(tablet)
                let plain = try await shop.attempt(client)
                let reply = try await shop.register(tablet, by: try await shop.code(plain, by: phone), plain)
                #expect(reply.status == 400 && reply.errorCode == "1000113")
            }
        }

        @Test("a code at E4 is for one client, its redirect-uri and its verifier (MAG checklist 63, MAG 4.5)")
        func registrationFaults() async throws {
            try await Workshop.open { shop in
                let phone = try await shop.phone()
                let tablet = try await shop.board("tablet", commonName: "socialLogin")
                let client = try await shop.initialize(tablet)
                let other = try await shop.initialize(tablet)
                let cases: [(String, Int, [String: String?])] = [
                    ("1000113", 400, ["code-verifier": String(repeating: "x", count: 64)]),
                    ("1000113", 400, ["code-verifier": nil]),
                    ("1000113", 400, ["redirect-uri": "latchkey://elsewhere"]),
                    ("1000103", 400, ["redirect-uri": nil]), ("1000113", 400, ["authorization": "Bearer unknown"]),
                    ("1000103", 400, ["authorization": nil]), ("1000113", 400, ["x-authorization-type": "unknown"]),
                    ("1000113", 400, ["client-authorization": other.basic]),
                    ("1000201", 401, ["client-authorization": ClientPair(id: client.id, secret: "wrong").basic]),
                ]
                for (code, status, changes) in cases {
                    let attempt = try await shop.attempt(client, scope: MasterClient.defaultScope)
                    let reply = try await shop.register(
                        tablet, by: try await shop.code(attempt, by: phone), attempt, changing: changes)
                    #expect(reply.status == status && reply.errorCode == code, "\(changes) \(reply.text)")
                }
                #expect(await shop.lab.devices().count == 1)
                let attempt = try await shop.attempt(client, scope: MasterClient.defaultScope)
                let silent = try await shop.register(
                    tablet, by: try await shop.code(attempt, by: phone), attempt, changing: ["create-session": "false"])
                #expect(silent.status == 200 && silent.header("id-token") == nil)
            }
        }

        @Test("without a challenge no verifier is accepted; a master client id serves its instances (MAG 7.1)")
        func withoutProof() async throws {
            try await Workshop.open { shop in
                let phone = try await shop.phone()
                let board = try await shop.registered()
                for (changes, status) in [(["code_verifier": nil] as [String: String?], 200), ([:], 400)] {
                    let reply = try await shop.e3([
                        ("client_id", MasterClient.agent.clientID), ("response_type", "code"), ("scope", "openid msso"),
                        ("display", "social_login"),
                    ])
                    let verifier = UUID().uuidString + UUID().uuidString
                    let attempt = Attempt(client: board.client, verifier: verifier, state: "", reply: reply)
                    let code = try await shop.code(attempt, by: phone)
                    #expect(try await shop.redeem(code, attempt, on: board, changing: changes).status == status)
                }
            }
        }
    }
}
