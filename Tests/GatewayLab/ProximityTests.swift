import Foundation
import GatewayLab
import Groundwork
import Testing

extension GatewayLabTests {
    @Suite("Proximity login")
    struct ProximityTests {
        @Test("a registered board gets a user's tokens by session, phone, poll and code (MAG checklist 62, 63, 64)")
        func tokens() async throws {
            try await Workshop.open { shop in
                let board = try await shop.registered()
                let phone = try await shop.phone()
                let attempt = try await shop.attempt(board.client, headers: ["mag-identifier": board.magIdentifier])
                #expect(attempt.reply.status == 200 && attempt.reply.header("Content-Type") == "application/json")
                let names = attempt.reply.json["providers"]?.array?.map { $0["provider"]?["id"]?.string }
                #expect(attempt.reply.json["idp"] == "all")
                #expect(names == ["facebook", "google", "salesforce", "linkedin", "enterprise", "qrcode"])
                #expect(attempt.provider("enterprise")?.authURL.hasPrefix(shop.lab.baseURL + "/") == true)
                let (authURL, pollURL) = try #require(attempt.provider("qrcode"))
                #expect(authURL.hasPrefix(shop.lab.baseURL + "/auth/device/authorization/"))
                let poll = try #require(pollURL)

                let pending = try await shop.curl.send("GET", poll)
                #expect(pending.status == 200 && pending.json == ["code": "", "state": ""])
                let authorized = try await shop.authorize(authURL, by: phone)
                #expect(authorized.status == 200 && authorized.header("Content-Type") == "text/plain")
                let polled = try await shop.curl.send("GET", poll, headers: ["mag-identifier": board.magIdentifier])
                #expect(polled.status == 200 && polled.json["state"]?.string == attempt.state)
                let code = try #require(polled.json["code"]?.string)

                let reply = try await shop.redeem(code, attempt, on: board)
                #expect(reply.status == 200 && reply.json["scope"]?.string == "openid msso profile email")
                #expect(reply.json["refresh_token"] != nil && reply.json["id_token"] != nil)
                let bearer = ["Authorization": "Bearer \(reply.json["access_token"]?.string ?? "")"]
                let user = try await shop.curl.send("GET", Endpoint.userinfo.path, headers: bearer)
                #expect(user.json["preferred_username"] == "alice")
                let over = try await shop.curl.send("GET", poll)
                #expect(over.status == 400 && over.errorCode == "3000110")
            }
        }

        @Test("a new board registers with the code at E4, and gets tokens at E8 (MAG checklist 63, 49, 51)")
        func registration() async throws {
            try await Workshop.open { shop in
                let phone = try await shop.phone("bob")
                let board = try await shop.board("board", commonName: "socialLogin")
                let client = try await shop.initialize(board)
                let attempt = try await shop.attempt(client, scope: MasterClient.defaultScope)
                let code = try await shop.code(attempt, by: phone)
                let reply = try await shop.register(board, by: code, attempt)
                #expect(reply.status == 200 && reply.header("device-status") == "activated")
                let mag = try #require(reply.header("mag-identifier"))
                let idToken = try #require(reply.header("id-token"))
                #expect(await shop.lab.devices().first { $0.magIdentifier == mag }?.user == "bob")
                let device = Registered(
                    board: board, client: client, magIdentifier: mag, identity: try shop.identity(board, reply.text))
                let tokens = try await shop.token(
                    device, [("grant_type", reply.header("id-token-type") ?? ""), ("assertion", idToken)])
                #expect(tokens.status == 200 && tokens.json["refresh_token"] != nil)
                let again = try await shop.register(board, by: code, attempt)
                #expect(again.status == 400 && again.errorCode == "1000113")
            }
        }

        @Test(
            "the authorize URL accepts GET and POST, repeated by one user, and nothing else (MAG checklist 64)")
        func methods() async throws {
            try await Workshop.open { shop in
                let phone = try await shop.phone()
                let other = try await shop.phone("bob", name: "other")
                let client = try await shop.initialize(try await shop.board())
                for method in ["GET", "POST"] {
                    let attempt = try await shop.attempt(client)
                    let (authURL, pollURL) = try #require(attempt.provider("qrcode"))
                    #expect(try await shop.authorize(authURL, by: phone, method: method).status == 200)
                    let first = try await shop.curl.send("GET", try #require(pollURL))
                    #expect(try await shop.authorize(authURL, by: phone, method: method).status == 200)
                    // A lost answer costs nothing: the code is the same until it is used.
                    #expect(try await shop.curl.send("GET", try #require(pollURL)).json == first.json)
                    let late = try await shop.authorize(authURL, by: other, method: method)
                    #expect(late.status == 400 && late.errorCode == "3000110")
                    let put = try await shop.authorize(authURL, by: phone, method: "PUT")
                    #expect(put.status == 405 && put.header("Allow") == "GET, POST" && put.errorCode == nil)
                    #expect(try await shop.curl.send("POST", try #require(pollURL), body: []).status == 405)
                }
            }
        }

        @Test("authorizing takes a user's token with certificate and mag-identifier (MAG checklist 63, 56, 55)")
        func refusals() async throws {
            try await Workshop.open { shop in
                let (phone, token) = try await shop.phone()
                let app = try await shop.accessToken(phone)
                let stranger = try await shop.registered("stranger")
                let attempt = try await shop.attempt(stranger.client)
                let (authURL, pollURL) = try #require(attempt.provider("qrcode"))
                let mag = phone.magIdentifier
                let cases: [(String, Int, String?, String?, String?)] = [
                    ("3000991", 401, app, mag, phone.identity), ("3000992", 401, nil, mag, phone.identity),
                    ("3000990", 401, "unknown", mag, phone.identity), ("3000103", 400, token, mag, nil),
                    ("3000107", 400, token, nil, phone.identity), ("3000107", 400, token, "nobody", phone.identity),
                    ("3000107", 400, token, mag, stranger.identity),
                    ("3000990", 401, token, stranger.magIdentifier, stranger.identity),
                ]
                for method in ["GET", "POST"] {
                    for (code, status, token, mag, identity) in cases {
                        var headers: [String: String] = [:]
                        headers["Authorization"] = token.map { "Bearer \($0)" }
                        headers["mag-identifier"] = mag
                        let reply = try await shop.curl.send(method, authURL, headers: headers, identity: identity)
                        #expect(reply.status == status && reply.errorCode == code, "\(headers) \(reply.text)")
                    }
                }
                #expect(try await shop.curl.send("GET", try #require(pollURL)).json["code"] == "")
                shop.lab.advanceClock(by: .seconds(366 * 86_400))
                let late = try await shop.phone("bob", name: "late")
                let expired = try await shop.curl.send(
                    "POST", authURL, headers: ["Authorization": "Bearer \(late.token)", "mag-identifier": mag],
                    identity: phone.identity)
                #expect(expired.status == 401 && expired.errorCode == "3000206")
            }
        }

        @Test(
            "an unknown or ended session is not authorized, its poll is not 200 (MAG checklist 63, MAG 7.3)")
        func ended() async throws {
            try await Workshop.open { shop in
                let phone = try await shop.phone()
                let client = try await shop.initialize(try await shop.board())
                let attempt = try await shop.attempt(client)
                let (authURL, pollURL) = try #require(attempt.provider("qrcode"))
                let poll = try #require(pollURL)
                func isOver(_ authURL: String, _ poll: String) async throws -> Bool {
                    let replies = [try await shop.authorize(authURL, by: phone), try await shop.curl.send("GET", poll)]
                    return replies.allSatisfy { $0.status == 400 && $0.errorCode == "3000110" }
                }
                let unknown = String(authURL.dropLast(32)) + String(repeating: "0", count: 32)
                #expect(try await isOver(unknown, unknown + "/poll"))
                #expect(try await isOver(authURL + "/x", authURL + "/x/poll"))
                shop.lab.advanceClock(by: .seconds(60))
                #expect(try await shop.curl.send("GET", poll).status == 200)
                shop.lab.advanceClock(by: .seconds(60))
                #expect(try await isOver(authURL, poll))
            }
        }

        @Test("the lives of the lab's sessions and codes can be set (MAG 14.3)")
        func lives() async throws {
            try await Workshop.open({
                $0.lives.authorization = 60
                $0.lives.authorizationCode = 120
            }) { shop in
                let phone = try await shop.phone()
                let board = try await shop.registered()
                let attempt = try await shop.attempt(board.client)
                let code = try await shop.code(attempt, by: phone)
                let poll = try #require(attempt.provider("qrcode")?.pollURL)
                shop.lab.advanceClock(by: .seconds(61))
                #expect(try await shop.curl.send("GET", poll).json["code"]?.string == code)
                shop.lab.advanceClock(by: .seconds(60))
                #expect(try await shop.curl.send("GET", poll).errorCode == "3000110")
                #expect(try await shop.redeem(code, attempt, on: board).errorCode == "3003113")
            }
        }

        @Test("faults affect E3, E19 and E20 like any endpoint, and the journal has no full session id")
        func faults() async throws {
            try await Workshop.open { shop in
                let phone = try await shop.phone()
                let client = try await shop.initialize(try await shop.board())
                shop.lab.inject(Fault(.error(code: 3_000_201, status: 401), at: .authorization, times: 1))
                #expect(try await shop.attempt(client).reply.errorCode == "3000201")
                let attempt = try await shop.attempt(client)
                let (authURL, pollURL) = try #require(attempt.provider("qrcode"))
                let poll = try #require(pollURL)
                shop.lab.inject(Fault(.status(405), at: .deviceAuthorization, times: 1))
                #expect(try await shop.authorize(authURL, by: phone).status == 405)
                shop.lab.inject(Fault(.dropAnswer, at: .deviceAuthorization, times: 1))
                let lost = await #expect(throws: ProgramFailure.self) { try await shop.authorize(authURL, by: phone) }
                #expect(lost?.status == 52)
                shop.lab.inject(Fault(.status(204), at: .poll, times: 1))
                let empty = try await shop.curl.send("GET", poll)
                #expect(empty.status == 204 && empty.header("Content-Type") == nil && empty.body.isEmpty)
                #expect(try await shop.curl.send("GET", poll).json["code"] != "")
                let session = try #require(authURL.split(separator: "/").last.map(String.init))
                #expect(
                    shop.lab.log.contains { $0.endpoint == .poll }
                        && !shop.lab.log.contains { $0.text.contains(session) })
                #expect(shop.lab.requestCounts[.poll] == 2 && shop.lab.requestCounts[.deviceAuthorization] == 2)
            }
        }
    }
}
