import Foundation
import GatewayLab
import Groundwork
import Testing

extension GatewayLabTests {
    @Suite("Users of the lab")
    struct UserTests {
        @Test("the admin state lists the users logged in on each device, until they log out (MAG checklist 61)")
        func loggedIn() async throws {
            try await Workshop.open { shop in
                let (phone, token) = try await shop.phone()
                let board = try await shop.registered()
                let attempt = try await shop.attempt(board.client)
                let code = try await shop.code(attempt, by: (phone, token))
                #expect(try await state(shop)["authorizations"]?[0]?["status"] == "authorized")
                let tokens = try await shop.redeem(code, attempt, on: board)
                let text = try await run("curl", ["-s", "\(shop.lab.adminURL)/api/state"] + shop.adminHeader).output
                let full = try JSON(parsing: Array(text.utf8))
                #expect(try users(full, board) == ["alice"] && full["authorizations"]?[0]?["status"] == "used")
                #expect(full["authorizations"]?[0]?["user"] == "alice" && full["users"] == ["alice", "bob"])
                for secret in [code, attempt.verifier, attempt.state, tokens.json["access_token"]?.string ?? code] {
                    #expect(!text.contains(secret))
                }
                let said = shop.lab.log.filter { $0.kind == .session }.map(\.text)
                #expect(
                    said == [
                        "alice logged in on Test board", "alice authorized a login from Test board",
                        "alice logged in on Test board",
                    ])
                let logout = try await shop.curl.send(
                    "POST", Endpoint.logout.path,
                    headers: ["Authorization": board.client.basic, "mag-identifier": board.magIdentifier],
                    form: [("id_token", tokens.json["id_token"]?.string ?? ""), ("logout_apps", "true")])
                #expect(logout.json == ["session_status": "logged out"])
                let after = try await state(shop)
                #expect(try users(after, board).isEmpty)
                #expect(try users(after, phone) == ["alice"])
                #expect(shop.lab.log.last { $0.kind == .session }?.text == "alice logged out on Test board")
                #expect(await shop.lab.loggedIn() == [phone.magIdentifier: ["alice"]])
            }
        }

        @Test("an administrator authorizes a login as a user, or refuses it")
        func administrator() async throws {
            try await Workshop.open { shop in
                let board = try await shop.registered()
                let attempt = try await shop.attempt(board.client)
                let (authURL, pollURL) = try #require(attempt.provider("qrcode"))
                let waiting = try #require(try await state(shop)["authorizations"]?[0])
                #expect(waiting["status"] == "waiting" && authURL.hasSuffix(waiting["id"]?.string ?? "none"))
                let path = "authorizations/\(waiting["id"]?.string ?? "")"
                #expect(try await post(shop, path + "/authorize", [:])["error"] == "user is missing")
                #expect(try await post(shop, path + "/authorize", ["user": "carol"])["code"] == "lab.no-such-thing")
                #expect(try await post(shop, path + "/authorize", ["user": "bob"]) == [:])
                let polled = try await shop.curl.send("GET", try #require(pollURL))
                let tokens = try await shop.redeem(polled.json["code"]?.string ?? "", attempt, on: board)
                #expect(tokens.status == 200 && tokens.json["id_token"] != nil)
                #expect(try await post(shop, path + "/refuse", [:])["code"] == "lab.no-such-thing")

                let refused = try await shop.attempt(board.client)
                try await shop.lab.refuse(try #require(refused.provider("qrcode")?.authURL))
                let answer = try await shop.curl.send("GET", try #require(refused.provider("qrcode")?.pollURL))
                #expect(answer.status == 400 && answer.errorCode == "3000123")
                let late = try await shop.attempt(board.client)
                shop.lab.advanceClock(by: .seconds(121))
                #expect(await shop.lab.authorizations().contains { $0.status == .ended })
                await #expect(throws: LabError.self) {
                    try await shop.lab.authorize(try #require(late.provider("qrcode")?.authURL), as: "bob")
                }
            }
        }

        @Test("userinfo has phone and address for those scopes (MAG 5.7)")
        func userinfo() async throws {
            try await Workshop.open { shop in
                let (_, token) = try await shop.phone()
                let reply = try await shop.curl.send(
                    "GET", Endpoint.userinfo.path, headers: ["Authorization": "Bearer \(token)"])
                #expect(reply.json["phone_number"] == "+1 555 0101")
                #expect(reply.json["address"]?["locality"] == "Locksmith" && reply.json["given_name"] == "Alice")
            }
        }

        @Test("the configuration document has redirect_uri, service, characteristic for proximity login (MAG 1.1)")
        func document() async throws {
            let master = MasterClient(clientID: "other", redirectURI: "other://back")
            try await Workshop.open({
                $0.masterClients = [master]
                $0.proximity.leastRSSI = -60
            }) { shop in
                let document = try JSON(parsing: try await shop.lab.configurationDocument())
                #expect(document["oauth"]?["client"]?["client_ids"]?[0]?["redirect_uri"] == "other://back")
                #expect(
                    document["oauth"]?["system_endpoints"]?["authorization_endpoint_path"] == "/auth/oauth/v2/authorize"
                )
                #expect(
                    document["mag"]?["ble"] == [
                        "msso_ble_service_uuid": "980c2f36-bde3-11e4-8dfc-aa07a5b093db",
                        "msso_ble_characteristic_uuid": "980c34cc-bde3-11e4-8dfc-aa07a5b093db", "msso_ble_rssi": -60,
                    ])
            }
        }

        private func state(_ shop: Workshop) async throws -> JSON {
            let text = try await run("curl", ["-s", "\(shop.lab.adminURL)/api/state"] + shop.adminHeader).output
            return try JSON(parsing: Array(text.utf8))
        }

        private func users(_ state: JSON, _ device: Registered) throws -> [String] {
            let found = state["devices"]?.array?.first { $0["mag_identifier"]?.string == device.magIdentifier }
            return (try #require(found)["logged_in"]?.array ?? []).compactMap(\.string)
        }

        private func post(_ shop: Workshop, _ path: String, _ input: JSON) async throws -> JSON {
            let answer = try await run(
                "curl",
                [
                    "-s", "-X", "POST", "-H", "Content-Type: application/json", "-d", input.text,
                    "\(shop.lab.adminURL)/api/\(path)",
                ] + shop.adminHeader
            ).output
            return try JSON(parsing: Array(answer.utf8))
        }
    }
}
