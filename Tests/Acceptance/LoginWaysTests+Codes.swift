import Foundation
import GatewayLab
import TestSupport
import Testing

/// Logins by what a program obtained itself: authorization codes, tokens from outside, names with passwords.
extension LoginWaysTests {
    /// RFC 7636 appendix B.
    private static let proof = (
        verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
        challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    )

    /// A code of a session that a program began by itself, as the board's client.
    private func code(of board: TestBoard, at lab: Lab, _ browser: PhoneBrowser) async throws -> String {
        let begun = try await send(board, "POST", "/v1/login/browser", [:])
        let client = try #require(begun["clientId"] as? String)
        let registers = try await board.status().registration.state == "unregistered" ? "%20msso_register" : ""
        let answer = try await browser.open(
            "\(lab.baseURL)/auth/oauth/v2/authorize?client_id=\(client)&response_type=code&display=social_login"
                + "&scope=openid%20msso%20profile%20email\(registers)&state=mine"
                + "&code_challenge=\(Self.proof.challenge)&code_challenge_method=S256")
        let poll = try #require(answer.text.firstMatch(of: /"(https:[^"]+\/([0-9a-f]{32})\/poll)"/))
        try await lab.authorize(String(poll.2), as: "alice")
        let polled = try await browser.open(String(poll.1).replacingOccurrences(of: "\\/", with: "/"))
        return String(try #require(polled.text.firstMatch(of: /"code":"([^"]+)"/)?.1))
    }

    @Test("a code that a program obtained logs in, and registers an unregistered board (MAG 5.6)")
    func handedCode() async throws {
        try await withRegisteredBoard { lab, board, browser in
            let first = try await code(of: board, at: lab, browser)
            let wrong = try await board.latchkey("login", "--code", "--json", input: "\(first)\n\(first)\(first)\n")
            #expect(wrong.errors.contains("gateway.grant-invalid") && !wrong.errors.contains(first))
            let second = try await code(of: board, at: lab, browser)
            let done = try await board.latchkey("login", "--code", input: "\(second)\n\(Self.proof.verifier)\n")
            #expect(done.status == 0 && done.output.contains("logged in as alice"))
            #expect(try await board.latchkey("deregister", "--yes").status == 0)

            let third = try await code(of: board, at: lab, browser)
            let user = try await send(
                board, "POST", "/v1/login/code", ["code": third, "verifier": Self.proof.verifier])
            #expect(user["userName"] as? String == "alice")
            #expect(await lab.devices().map(\.user) == ["alice"])
        }
    }

    @Test("a call that waits for a user takes a code that a program obtained, even after a wrong one")
    func codeOnDemand() async throws {
        let settings = "[login]\nflow = \"password\"\nask_seconds = 600"
        try await withRegisteredBoard(settings: settings) { lab, board, browser in
            let right = try await code(of: board, at: lab, browser)
            let call = try board.follow("call", "GET", "/lab/hello")
            let prompt = try await board.prompt()
            #expect(prompt["kind"] as? String == "log-in" && prompt["attemptsLeft"] as? Int == 3)
            let target = "/v1/prompts/\(prompt["id"] ?? 0)"
            let wrong = ["code": "\(right)x", "verifier": Self.proof.verifier]
            #expect(try await send(board, "POST", target, wrong)["state"] as? String == "answered")
            var again = prompt
            let end = ContinuousClock.now + .seconds(60)
            while !(again["fault"] is String), ContinuousClock.now < end { again = try await board.prompt() }
            #expect(again["id"] as? Int == prompt["id"] as? Int && again["attemptsLeft"] as? Int == 2)
            let answer = ["code": right, "verifier": Self.proof.verifier]
            #expect(try await send(board, "POST", target, answer)["state"] as? String == "answered")
            #expect(try await call.ended() == 0 && call.output.text.contains("Hello, alice"))
            #expect(board.daemon?.errors.text.contains(right) == false)
        }
    }

    @Test("a JWT from outside logs in, and registers an unregistered board (MAG 4.3, 5.1)")
    func outsideToken() async throws {
        try await withRegisteredBoard { lab, board, _ in
            let token = try await lab.mintToken(for: "bob")
            let done = try await board.latchkey("login", "--jwt", input: token + "\n")
            #expect(done.status == 0 && done.output.contains("logged in as bob"))
            #expect(try await board.ask("whoami", "--session")["session"] as? String == "active")
            #expect(try await board.latchkey("deregister", "--yes").status == 0)

            let user = try await send(
                board, "POST", "/v1/login/jwt", ["token": try await lab.mintToken(for: "alice")])
            #expect(user["userName"] as? String == "alice")
            #expect(await lab.devices().map(\.user) == ["alice"])
            lab.advanceClock(by: .seconds(600))
            let late = try await board.latchkey("login", "--jwt", "--json", input: token + "\n")
            #expect(late.status != 0 && late.errors.contains("gateway.grant-invalid") && !late.errors.contains(token))
            let noURI = try await board.latchkey("login", "--jwt", "--type", "password", "--json", input: token)
            #expect(noURI.errors.contains("gateway.user-credentials-unusable"))
        }
    }

    @Test("a user name with a colon logs in where a form carries it, and does not register (RFC 7617)")
    func colon() async throws {
        let user = LabUser(name: "LAB:carol", password: "carols", givenName: "Carol", familyName: "Cole")
        try await withRegisteredBoard({ $0.users.append(user) }) { _, board, _ in
            let logIn = { (board: TestBoard) in
                try await board.latchkey(
                    "login", "--user", "LAB:carol", "--password-stdin", "--json", input: "carols\n")
            }
            #expect(try await logIn(board).status == 0)
            #expect(try await isLoggedIn(board, as: "LAB:carol"))
            #expect(try await board.latchkey("deregister", "--yes").status == 0)
            let refused = try await logIn(board)
            #expect(refused.status != 0 && refused.errors.contains("gateway.user-credentials-unusable"))
        }
    }
}
