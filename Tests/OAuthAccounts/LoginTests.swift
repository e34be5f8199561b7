import Cryptography
import Foundation
import Groundwork
import HTTPClient
import OAuth
import TestSupport
import Testing
import Vault

@testable import OAuthAccounts

@Suite("Logging in at an OAuth server", .timeLimit(.minutes(8)))
struct LoginTests {
    /// The address at which a browser ends, made of the one that it was led to.
    private func answer(_ url: String, _ fields: [String: String?], mark: String = "?") throws -> String {
        let query = try #require(URLComponents(string: url)?.queryItems)
        let values = ["code": "code-1", "state": query.first { $0.name == "state" }?.value].merging(fields) { $1 }
        let text = values.compactMap { name, value in value.map { "\(name)=\(PercentEncoding.encode($0))" } }
        return "http://127.0.0.1/callback\(mark)" + text.joined(separator: "&")
    }

    @Test("a login by code sends PKCE, and refuses another login's or server's answer (OAMMS checklist 94, 95)")
    func code() async throws {
        let server = try await ChosenServer.start()
        let account = try await server.account(issuer: "naming", grant: .authorizationCode)
        let begun = try await account.beginBrowser()
        let query = try #require(URLComponents(string: begun.url)?.queryItems)
        func sent(_ name: String) -> String? { query.first { $0.name == name }?.value }
        #expect(sent("response_type") == "code" && sent("code_challenge_method") == "S256")
        #expect(sent("code_challenge")?.count == 43 && sent("state")?.count == 22 && sent("scope") == "a b")
        let issuer = "\(server.base)/naming"
        let wrong: [(String, OAuthAccountError)] = [
            (try answer(begun.url, ["state": "another", "iss": issuer]), .stateMismatch),
            // Any page can send these, and they end nothing.
            (try answer(begun.url, ["state": nil, "code": nil, "error": "access_denied"]), .stateMismatch),
            (try answer(begun.url, ["state": "another", "code": nil, "error": "access_denied"]), .stateMismatch),
            (
                try answer(begun.url, ["iss": "\(server.base)/good"]),
                .issuerWrong(expected: issuer, found: "\(server.base)/good")
            ),
            // The server announces that it names itself (RFC 9207 section 2.4).
            (try answer(begun.url, [:]), .issuerWrong(expected: issuer, found: nil)),
            (
                "https://elsewhere.example/callback?code=c&state=s",
                .browserAnswerInvalid(reason: "the server sends browsers to another address")
            ),
            (
                try answer(begun.url, ["code": nil, "error": "access_denied"]),
                .browserAnswerInvalid(reason: "the server said access_denied")
            ),
            (
                try answer(begun.url, ["access_token": "x"], mark: "#"),
                .browserAnswerInvalid(reason: "it has no answer of the server")
            ),
        ]
        for (address, error) in wrong {
            await #expect(throws: error, "\(address)") { try await account.endBrowser(begun.id, answer: address) }
        }
        #expect(try await server.count("authorization_code") == 0)
        _ = try await account.endBrowser(begun.id, answer: try answer(begun.url, ["iss": issuer]))
        let verifier = try #require(try await server.form("code_verifier"))
        #expect((43...128).contains(verifier.utf8.count))
        #expect(Base64.encode(SHA256.hash(Array(verifier.utf8)), alphabet: .urlSafe) == sent("code_challenge"))
        // The code works once.
        await #expect(throws: OAuthAccountError.noSuchLogin) {
            try await account.endBrowser(begun.id, answer: try answer(begun.url, ["iss": issuer]))
        }
        #expect(try await account.token().value.exposedText() == "access-1")
    }

    @Test(
        "a login by code ends at the waiting program's port, if the URI leaves it open (RFC 8252 section 7.3)",
        arguments: [
            ("http://127.0.0.1/callback", "http://127.0.0.1:4711/callback"),
            ("http://[::1]/callback", "http://[::1]:4711/callback"),
            ("http://127.0.0.1:80/callback", "http://127.0.0.1:80/callback"),
            ("https://board.example/callback", "https://board.example/callback"),
        ])
    func loopback(configured: String, used: String) async throws {
        let server = try await ChosenServer.start()
        let account = try await server.account(grant: .authorizationCode) { $0.redirectURI = configured }
        let begun = try await account.beginBrowser(loopbackPort: 4711)
        let query = try #require(URLComponents(string: begun.url)?.queryItems)
        func sent(_ name: String) -> String? { query.first { $0.name == name }?.value }
        #expect(begun.redirectURI == used && sent("redirect_uri") == used)
        let answer = "?code=code-1&state=\(try #require(sent("state")))"
        let elsewhere = OAuthAccountError.browserAnswerInvalid(reason: "the server sends browsers to another address")
        for other in ["http://127.0.0.1:4712/callback", "http://127.0.0.1:4711/", "https://evil.example/callback"] {
            await #expect(throws: elsewhere) { try await account.endBrowser(begun.id, answer: other + answer) }
        }
        #expect(try await server.count("authorization_code") == 0)
        _ = try await account.endBrowser(begun.id, answer: used + answer)
        // The token request has to repeat it (RFC 6749 section 4.1.3).
        #expect(try await server.form("redirect_uri") == used)

        let canceled = try await account.beginBrowser()
        #expect(canceled.redirectURI == configured)
        try await account.cancelBrowser(canceled.id)
        await #expect(throws: OAuthAccountError.noSuchLogin) {
            try await account.endBrowser(canceled.id, answer: used + answer)
        }
    }

    @Test("an id_token must be of this server, client, login and token (OAMMS checklist 112)")
    func idToken() async throws {
        let server = try await ChosenServer.start()
        let account = try await server.account(grant: .authorizationCode, scope: "openid")
        func end(_ changes: [String: JSON?], nonce: String? = nil) async throws -> AccountUser {
            let begun = try await account.beginBrowser()
            let sent = URLComponents(string: begun.url)?.queryItems?.first { $0.name == "nonce" }?.value
            let all = ["nonce": .string(nonce ?? sent ?? "")].merging(changes) { $1 }
            try await server.set(["idToken": .string(try server.idToken(all))])
            return try await account.endBrowser(begun.id, answer: try answer(begun.url, [:]))
        }
        let wrong: [(String, JSON?)] = [
            ("iss", "https://elsewhere.example"), ("aud", "another-client"), ("aud", nil), ("azp", "another-client"),
            ("sub", nil), ("at_hash", "AAAAAAAAAAAAAAAAAAAAAA"), ("exp", 1_000_000),
        ]
        for (claim, value) in wrong {
            await #expect(throws: OAuthAccountError.self, "\(claim)") { try await end([claim: value]) }
        }
        await #expect(throws: OAuthAccountError.idTokenInvalid(reason: "its nonce is not as required")) {
            try await end([:], nonce: "of another login")
        }
        #expect(await account.user() == nil)
        let user = try await end([:])
        #expect(user.subject == "alice-1" && user.name == "alice")
        // Without one, the login of OpenID Connect is none.
        let begun = try await account.beginBrowser()
        try await server.set(["idToken": nil])
        await #expect(throws: OAuthAccountError.idTokenInvalid(reason: "there is none")) {
            try await account.endBrowser(begun.id, answer: try answer(begun.url, [:]))
        }
    }

    @Test("a changed key of an OAuth server is asked for once more, and a key of nobody is refused")
    func keys() async throws {
        let server = try await ChosenServer.start()
        let (old, new) = (try PrivateKey(generating: .p256), try PrivateKey(generating: .p256))
        func jwk(_ key: PrivateKey, _ id: String) -> JSON {
            JSONWebKey.json(of: key.publicKey, id: id, algorithm: .ES256)
        }
        func token(_ key: PrivateKey, _ id: String) throws -> JSON {
            let claims = try #require(JWS.claims(of: try server.idToken()))
            return .string(try JWS.sign(claims.bytes, algorithm: .ES256, key: .key(key), keyID: id))
        }
        let account = try await server.account()
        try await server.set(["keys": [jwk(old, "old")], "idToken": try token(old, "old")])
        #expect(try await account.logInAsAlice().subject == "alice-1")
        try await server.set(["keys": [jwk(new, "new")], "idToken": try token(new, "new")])
        #expect(try await account.logInAsAlice().subject == "alice-1")
        #expect(try await server.count("keys") == 2)
        try await server.set(["idToken": try token(old, "new")])
        await #expect(throws: OAuthAccountError.idTokenInvalid(reason: "no published key has signed it")) {
            try await account.logInAsAlice()
        }
    }

    @Test("a login by implicit grant happens only where it was asked for by name")
    func implicit() async throws {
        let server = try await ChosenServer.start()
        let account = try await server.account(grant: .implicit)
        // Nobody can wait for an answer that a browser keeps to itself.
        let begun = try await account.beginBrowser(loopbackPort: 4711)
        #expect(begun.url.contains("response_type=token") && begun.redirectURI == "http://127.0.0.1/callback")
        let fields = ["code": nil, "access_token": "shown", "token_type": "bearer", "expires_in": "60", "scope": "a b"]
        await #expect(throws: OAuthAccountError.stateMismatch) {
            let address = try answer(begun.url, fields.merging(["state": "x"]) { $1 }, mark: "#")
            return try await account.endBrowser(begun.id, answer: address)
        }
        _ = try await account.endBrowser(begun.id, answer: try answer(begun.url, fields, mark: "#"))
        #expect(try await account.token().value.exposedText() == "shown")
        await #expect(throws: OAuthAccountError.wrongGrant(account: "cloud", grant: "implicit")) {
            try await account.logInAsAlice()
        }
    }

    @Test("a login by JWT or SAML 2.0 assertion follows RFC 7523 and RFC 7522 (OAMMS checklist 100)")
    func assertions() async throws {
        let server = try await ChosenServer.start()
        let jwt = try await server.account("jwt", grant: .jwtBearer)
        _ = try await jwt.logIn(assertion: SecretBytes(utf8: "a.b.c"))
        #expect(try await server.form("grant_type") == "urn:ietf:params:oauth:grant-type:jwt-bearer")
        #expect(try await server.form("assertion") == "a.b.c")
        let saml = try await server.account("saml", grant: .saml2Bearer)
        let xml = "<saml:Assertion>\n  ÿþ?>\n</saml:Assertion>"
        _ = try await saml.logIn(assertion: SecretBytes(utf8: xml))
        let sent = try #require(try await server.form("assertion"))
        #expect(
            Base64.decode(sent, alphabet: .urlSafe) == Array(xml.utf8) && !sent.contains("=") && !sent.contains("+"))
        #expect(try await server.form("grant_type") == "urn:ietf:params:oauth:grant-type:saml2-bearer")
        // Both bring tokens of a user that can be refreshed.
        #expect(await saml.user() != nil)
    }

    @Test("a board that signs its own assertions needs nobody to log in (OAMMS checklist 99)")
    func ownAssertion() async throws {
        let server = try await ChosenServer.start()
        let account = try await server.account(grant: .jwtBearer) { server in
            (server.authentication, server.secret, server.subject) = (.privateKey, nil, "alice")
        }
        _ = try await account.token()
        for (field, subject, audience) in [
            ("assertion", "alice", "/good/token"), ("client_assertion", "board", "/good"),
        ] {
            let text = try #require(try await server.form(field))
            let token = try JWS.Token(compact: text)
            let jwk = try #require(try await account.publicKey())
            let keys = try KeySet(JSON.object(["keys": [jwk]]).bytes)
            try token.verify(with: .key(try #require(keys.candidates(of: token.keyID).first)))
            let claims = try JSON(parsing: token.payload)
            #expect(claims["iss"] == "board" && claims["sub"] == .string(subject))
            #expect(claims["aud"] == .string(server.base + audience))
            let now = Date().timeIntervalSince1970
            let (issued, ends) = (try #require(claims["iat"]?.number), try #require(claims["exp"]?.number))
            // A server whose clock is a minute early or late accepts it.
            #expect(issued <= now - 59 && ends > now + 61 && ends - issued <= 300)
        }
        #expect(
            try await server.form("client_assertion_type") == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
        #expect(try await server.form("client_secret") == nil)
    }
}
