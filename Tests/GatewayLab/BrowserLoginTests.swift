import Foundation
import GatewayLab
import Groundwork
import Testing

extension GatewayLabTests {
    @Suite("Logging in with a browser")
    struct BrowserLoginTests {
        @Test("display=template leads to a login page, consent and a code, by plain forms (MAG checklist 62, MAG 7.2)")
        func wholeLine() async throws {
            try await Workshop.open { shop in
                let board = try await shop.registered()
                let attempt = try await shop.attempt(board.client, display: "template")
                #expect(attempt.reply.status == 302 && attempt.reply.body.isEmpty)
                let location = try #require(attempt.reply.header("Location"))
                #expect(
                    location.hasPrefix(
                        shop.lab.baseURL + "/auth/oauth/v2/authorize/login?action=display&sessionID="))
                let login = try await shop.curl.send("GET", location)
                try expectPlainPage(login)

                let wrong = try await submit(
                    shop, login, ["username": "alice", "password": "wrong", "action": "login"])
                #expect(wrong.status == 401 && wrong.errorCode == "3001202" && wrong.text.contains("role=\"alert\""))
                try expectPlainPage(wrong)
                let consent = try await submit(
                    shop, wrong, ["username": "alice", "password": "alice-password", "action": "login"])
                #expect(consent.status == 200 && consent.text.contains("Alice Archer"))
                #expect(consent.text.contains("<code>profile</code>"))
                try expectPlainPage(consent)
                let back = try await submit(shop, consent, ["action": "grant"])
                #expect(back.status == 302)
                let answer = try parameters(back)
                #expect(answer["state"] == attempt.state && answer["error"] == nil)
                let tokens = try await shop.redeem(try #require(answer["code"]), attempt, on: board)
                #expect(tokens.status == 200 && tokens.json["id_token"] != nil)
                // The page is of no use any more.
                #expect(try await shop.curl.send("GET", location).errorCode == "3001110")
                #expect(try await submit(shop, consent, ["action": "grant"]).errorCode == "3002110")
            }
        }

        @Test("the enterprise provider leads to the same page, and the poll of the session gives the code (MAG 7.1)")
        func enterprise() async throws {
            try await Workshop.open { shop in
                let board = try await shop.registered()
                let attempt = try await shop.attempt(board.client, headers: ["mag-identifier": board.magIdentifier])
                let provider = try #require(attempt.provider("enterprise"))
                let redirect = try await shop.curl.send("GET", provider.authURL)
                let login = try await shop.curl.send("GET", try #require(redirect.header("Location")))
                #expect(redirect.status == 302 && login.text.contains("<strong>Test board</strong>"))
                let consent = try await submit(
                    shop, login, ["username": "bob", "password": "bob-password", "action": "login"])
                let back = try parameters(try await submit(shop, consent, ["action": "grant"]))
                let polled = try await shop.curl.send("GET", try #require(attempt.provider("qrcode")?.pollURL))
                #expect(polled.json["code"]?.string == back["code"] && polled.json["state"]?.string == back["state"])
                let unknown = shop.lab.baseURL + Endpoint.enterpriseLogin.path + "?sessionID=x"
                #expect(try await shop.curl.send("GET", unknown).errorCode == "3000110")
            }
        }

        @Test("canceling and denying at the login page return error and x-ca-err, and end the poll (MAG 7.2, MAG 6.4)")
        func refusals() async throws {
            try await Workshop.open { shop in
                let client = try await shop.initialize(try await shop.board())
                for (denies, code, polled) in [(false, "3001123", "3000123"), (true, "3002124", "3000124")] {
                    let attempt = try await shop.attempt(client)
                    let redirect = try await shop.curl.send(
                        "GET", try #require(attempt.provider("enterprise")?.authURL))
                    let login = try await shop.curl.send("GET", try #require(redirect.header("Location")))
                    var back: Curl.Reply
                    if denies {
                        let consent = try await submit(
                            shop, login, ["username": "alice", "password": "alice-password", "action": "login"])
                        back = try await submit(shop, consent, ["action": "deny"])
                    } else {
                        back = try await submit(shop, login, ["action": "cancel"])
                    }
                    let answer = try parameters(back)
                    #expect(back.status == 302 && answer["x-ca-err"] == code && answer["state"] == attempt.state)
                    #expect(answer["error"] == "access_denied" && answer["error_description"] != nil)
                    let poll = try await shop.curl.send("GET", try #require(attempt.provider("qrcode")?.pollURL))
                    #expect(poll.status == 400 && poll.errorCode == polled)
                }
            }
        }

        @Test("consent needs a login, and the page of the same session")
        func foreignPages() async throws {
            try await Workshop.open { shop in
                let client = try await shop.initialize(try await shop.board())
                func login() async throws -> Curl.Reply {
                    let attempt = try await shop.attempt(client, display: "template")
                    return try await shop.curl.send("GET", try #require(attempt.reply.header("Location")))
                }
                let (first, second) = (try await login(), try await login())
                let consent = Endpoint.consent.path
                #expect(try await submit(shop, first, ["action": "grant"], at: consent).errorCode == "3002110")
                let mine = try await submit(
                    shop, first, ["username": "alice", "password": "alice-password", "action": "login"])
                let other = try hidden(second)["sessionID"] ?? ""
                #expect(try await submit(shop, mine, ["action": "grant", "sessionID": other]).errorCode == "3002110")
                #expect(
                    try await submit(shop, mine, ["action": "grant", "sessionData": "a.b.c"]).errorCode == "3002110")
                #expect(try await submit(shop, mine, ["action": "else"]).errorCode == "3002103")
                #expect(try await submit(shop, second, ["action": "else"]).errorCode == "3001103")
                #expect(try await shop.curl.send("GET", consent).status == 405)
                shop.lab.advanceClock(by: .seconds(120))
                #expect(try await submit(shop, mine, ["action": "grant"]).errorCode == "3002110")
            }
        }

        @Test("a login template's faults reach the client at its redirect_uri, and no other address (MAG 7.2)")
        func templateFaults() async throws {
            try await Workshop.open { shop in
                let client = try await shop.initialize(try await shop.board())
                let good = [("client_id", client.id), ("display", "template"), ("state", "s 1")]
                let plain = try await shop.e3(
                    good + [("response_type", "code"), ("code_challenge", "x"), ("code_challenge_method", "plain")])
                let answer = try parameters(plain)
                #expect(plain.status == 302 && plain.header("Location")?.hasPrefix(Workshop.redirectURI + "?") == true)
                #expect(
                    answer["x-ca-err"] == "3000112" && answer["error"] == "invalid_request" && answer["state"] == "s 1")
                let foreign = try await shop.e3(
                    good + [("response_type", "code"), ("redirect_uri", "https://evil.test/")])
                #expect(foreign.status == 400 && foreign.header("Location") == nil)
                let unknown = try await shop.e3(
                    good.dropFirst() + [("client_id", "nobody"), ("response_type", "code")])
                #expect(unknown.status == 401 && unknown.header("Location") == nil)
            }
        }

        @Test("names of devices are text on the login page, whatever they contain")
        func escaping() async throws {
            try await Workshop.open { shop in
                let board = try await shop.board()
                let client = try await shop.initialize(board)
                let name = "<script>alert('x')</script>&\""
                let reply = try await shop.register(
                    board, client, headers: ["device-name": Base64.encode(Array(name.utf8))])
                let attempt = try await shop.attempt(
                    client, display: "template",
                    headers: ["mag-identifier": try #require(reply.header("mag-identifier"))])
                let login = try await shop.curl.send("GET", try #require(attempt.reply.header("Location")))
                #expect(login.text.contains("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;&quot;"))
                try expectPlainPage(login)
            }
        }

        @Test(
            "the login page lets its form lead to the client: the port of a program, the scheme of an app",
            arguments: [
                ("http://127.0.0.1/callback", "http://127.0.0.1:41237/callback", "http://127.0.0.1:41237"),
                ("http://[::1]/callback", "http://[::1]:41237/callback", "http:"),
                ("app.example://callback", "app.example://callback", "app.example:"),
            ])
        func policies(own: String, asked: String, source: String) async throws {
            try await Workshop.open({ $0.masterClients[0].redirectURI = own }) { shop in
                let client = try await shop.initialize(try await shop.board())
                let begun = try await shop.e3([
                    ("client_id", client.id), ("response_type", "code"), ("display", "template"),
                    ("redirect_uri", asked),
                ])
                let login = try await shop.curl.send("GET", try #require(begun.header("Location")))
                #expect(login.header("Content-Security-Policy")?.contains("form-action 'self' \(source);") == true)
                let refused = try await shop.e3([
                    ("client_id", client.id), ("response_type", "token"), ("display", "template"),
                    ("redirect_uri", asked),
                ])
                #expect(refused.header("Location")?.hasPrefix("\(asked)?error=") == true)
            }
        }

        /// A page that needs nothing but forms, and is kept by nobody.
        private func expectPlainPage(_ reply: Curl.Reply) throws {
            #expect(reply.header("Content-Type") == "text/html; charset=utf-8")
            #expect(reply.header("Cache-Control") == "no-store" && !reply.text.contains("<script"))
            let policy = try #require(reply.header("Content-Security-Policy"))
            #expect(policy.hasPrefix("default-src 'none'") && policy.contains("form-action 'self' http://127.0.0.1;"))
        }

        /// Sends the form of a page as a browser does: to its action, with its hidden fields.
        private func submit(_ shop: Workshop, _ page: Curl.Reply, _ fields: [String: String], at path: String? = nil)
            async throws -> Curl.Reply
        {
            let action = try #require(page.text.firstMatch(of: /<form method="post" action="([^"]+)">/)?.1)
            let form = try hidden(page).merging(fields) { _, mine in mine }
            return try await shop.curl.send("POST", path ?? String(action), form: form.map { ($0.key, $0.value) })
        }

        private func hidden(_ page: Curl.Reply) throws -> [String: String] {
            let found = page.text.matches(of: /<input type="hidden" name="([^"]+)" value="([^"]+)">/)
            return Dictionary(uniqueKeysWithValues: found.map { (String($0.1), String($0.2)) })
        }

        /// What a redirect carries to the client.
        private func parameters(_ reply: Curl.Reply) throws -> [String: String] {
            let components = try #require(reply.header("Location").flatMap(URLComponents.init(string:)))
            let items = (components.queryItems ?? []).map { ($0.name, $0.value ?? "") }
            return Dictionary(items) { first, _ in first }
        }
    }
}
