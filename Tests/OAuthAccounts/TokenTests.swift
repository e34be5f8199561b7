import Cryptography
import Foundation
import Groundwork
import HTTPClient
import OAuth
import TestSupport
import Testing
import Vault

@testable import OAuthAccounts

@Suite("Tokens of an account at an OAuth server", .timeLimit(.minutes(8)))
struct TokenTests {
    /// Waits until something has become true, of which nothing tells; the suite's time limit ends it.
    private static func until(_ condition: () async throws -> Bool) async throws {
        while try await !condition() { try await Task.sleep(for: .milliseconds(2)) }
    }

    @Test("a thousand callers at once cause one token refresh, and all get its token (OAMMS checklist 104)")
    func oneRefresh() async throws {
        let server = try await ChosenServer.start()
        _ = try await server.account().logInAsAlice()
        // Two hours later the access token has ended.
        let later = try #require(try await server.accounts(ahead: 7200).account("cloud"))
        try await server.set(["hold": true])
        let tokens = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<1000 { group.addTask { try await later.token().value.exposedText() } }
            try await Self.until { later.waiting(scope: "a b") == 1000 }
            try await server.set(["hold": false])
            return try await group.reduce(into: [String]()) { $0.append($1) }
        }
        #expect(tokens.count == 1000 && Set(tokens) == ["access-2"])
        #expect(try await server.count("refresh_token") == 1)
        _ = try await later.token()
        #expect(try await server.count("refresh_token") == 1)
    }

    @Test("a thousand callers of an unattended account cause one request, also for narrower scopes")
    func oneRequest() async throws {
        let server = try await ChosenServer.start()
        let account = try await server.account(grant: .clientCredentials)
        try await server.set(["hold": true])
        let tokens = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<1000 { group.addTask { try await account.token().value.exposedText() } }
            try await Self.until { account.waiting(scope: "a b") == 1000 }
            group.addTask { try await account.token(scope: "a").value.exposedText() }
            try await Self.until { account.waiting(scope: "a") == 1 }
            try await server.set(["hold": false])
            return try await group.reduce(into: [String]()) { $0.append($1) }
        }
        #expect(tokens.count == 1001 && Set(tokens) == ["access-1"])
        #expect(try await server.count("client_credentials") == 1)
    }

    @Test("a caller that goes away does not end a refresh: what the server replaced is kept")
    func abandoned() async throws {
        let server = try await ChosenServer.start()
        _ = try await server.account().logInAsAlice()
        let later = try #require(try await server.accounts(ahead: 7200).account("cloud"))
        try await server.set(["hold": true])
        let caller = Task { try await later.token() }
        try await Self.until { try await server.count("refresh_token") == 1 }
        caller.cancel()
        await #expect(throws: CancellationError.self) { try await caller.value }
        try await server.set(["hold": false])
        #expect(try await later.token().value.exposedText() == "access-2")
        #expect(try await server.count("refresh_token") == 1)
    }

    @Test("a token serves each scope that it includes, and no other (OAMMS checklist 102)")
    func scopes() async throws {
        let server = try await ChosenServer.start()
        let account = try await server.account(grant: .clientCredentials, scope: "a b")
        #expect(try await account.token(scope: "a b").value.exposedText() == "access-1")
        #expect(try await account.token(scope: "b").value.exposedText() == "access-1")
        #expect(try await account.token().scope == ["a", "b"])
        #expect(try await account.token(scope: "c").value.exposedText() == "access-2")
        #expect(try await account.token(scope: "a c").value.exposedText() == "access-3")
        #expect(try await account.token(scope: "c").value.exposedText() == "access-3")
        #expect(try await server.count("client_credentials") == 3)

        let person = try await server.account("person", scope: "a")
        _ = try await person.logInAsAlice()
        await #expect(throws: OAuthAccountError.loginRequired(account: "person")) {
            try await person.token(scope: "a b")
        }
    }

    @Test(
        "a token for another scope than asked for serves those who ask for the same, and is refreshed")
    func otherScope() async throws {
        let server = try await ChosenServer.start()
        try await server.set(["grants": "a https://id.example/auth/b"])
        let account = try await server.account(grant: .clientCredentials, scope: "a b")
        for _ in 0..<3 { #expect(try await account.token().scope == ["a", "https://id.example/auth/b"]) }
        #expect(try await account.token(scope: "a").value.exposedText() == "access-1")
        #expect(try await server.count("client_credentials") == 1)

        _ = try await server.account("person", scope: "a b").logInAsAlice()
        let later = try #require(try await server.accounts(ahead: 7200).account("person"))
        _ = try await later.token()
        _ = try await later.token()
        #expect(try await server.count("refresh_token") == 1)
        await #expect(throws: OAuthAccountError.loginRequired(account: "person")) { try await later.token(scope: "b") }
    }

    @Test("a replaced refresh token is used once, and outlives the process (OAMMS checklist 106)")
    func rotation() async throws {
        let server = try await ChosenServer.start()
        _ = try await server.account().logInAsAlice()
        for (number, hours) in [(2, 2), (3, 4), (4, 6)] {
            let later = try #require(try await server.accounts(ahead: Double(hours) * 3600).account("cloud"))
            #expect(try await later.token().value.exposedText() == "access-\(number)")
            #expect(try await server.form("refresh_token") == "refresh-\(number - 1)")
        }
        // An answer without a refresh token leaves the old one.
        try await server.set(["rotates": false])
        for hours in [8, 10] {
            let later = try #require(try await server.accounts(ahead: Double(hours) * 3600).account("cloud"))
            _ = try await later.token()
            #expect(try await server.form("refresh_token") == "refresh-4")
        }
    }

    @Test("a refused refresh token is dropped, and a person has to log in (OAMMS checklist 107)")
    func refusedRefresh() async throws {
        let server = try await ChosenServer.start()
        _ = try await server.account().logInAsAlice()
        try await server.answer(400, #"{"error":"invalid_grant"}"#)
        let later = try #require(try await server.accounts(ahead: 7200).account("cloud"))
        let refused = OAuthAccountError.refreshRefused(
            account: "cloud", error: "invalid_grant", text: nil, afterLostAnswer: false)
        await #expect(throws: refused) { try await later.token() }
        await #expect(throws: refused) { try await later.token() }
        await #expect(throws: OAuthAccountError.loginRequired(account: "cloud")) { try await later.token(scope: "c") }
        #expect(try await server.count("refresh_token") == 1)
        #expect(await later.needsPerson)
    }

    @Test(
        "a server that fails costs an account no token",
        arguments: [
            (503, "<html>maintenance</html>"), (500, #"{"error":"server_error"}"#),
            (401, #"{"error":"invalid_client"}"#),
            (429, #"{"error":"temporarily_unavailable"}"#), (302, ""), (200, "<html>welcome to our hotel</html>"),
            (200, #"{"access_token":"x","token_type":"mac"}"#), (200, #"{"token_type":"bearer"}"#),
        ])
    func failing(status: Int, body: String) async throws {
        let server = try await ChosenServer.start()
        _ = try await server.account().logInAsAlice()
        try await server.answer(Int64(status), body)
        let later = try #require(try await server.accounts(ahead: 7200).account("cloud"))
        await #expect(throws: OAuthAccountError.self) { try await later.token() }
        #expect(await later.lastFailure != nil)
        try await server.set(["answer": nil])
        #expect(try await later.token().value.exposedText() == "access-2")
        #expect(await later.lastFailure == nil)
    }

    @Test("a token answer of megabytes is refused unread")
    func oversized() async throws {
        let server = try await ChosenServer.start()
        let account = try await server.account()
        let text = String(repeating: "x", count: 600_000)
        try await server.answer(200, #"{"access_token":"\#(text)","token_type":"bearer"}"#)
        await #expect(throws: HTTPError.responseTooLarge(url: "\(server.base)/good/token", limit: JSONAnswer.limit)) {
            try await account.logInAsAlice()
        }
        #expect(await account.user() == nil)
    }

    @Test("calls reach the account's resources only; a refused token is replaced once (OAMMS checklist 109, 110)")
    func calls() async throws {
        let server = try await ChosenServer.start()
        let account = try await server.account()
        _ = try await account.logInAsAlice()
        #expect(try await account.call("GET", "/api", headers: [:], body: nil).status == 200)
        try await server.set(["revoked": ["access-1"]])
        #expect(try await account.call("GET", server.base + "/good/api", headers: [:], body: nil).status == 200)
        #expect(try await account.call("GET", "/api", headers: [:], body: nil).status == 200)
        #expect(try await server.count("refresh_token") == 1)
        #expect(
            try await server.control()["apiTokens"]?.array
                == ["access-1", "access-1", "access-2", "access-2"])
        // A server that refuses every token gets two.
        try await server.set(["revoked": ["access-2", "access-3"]])
        #expect(try await account.call("GET", "/api", headers: [:], body: nil).status == 401)
        #expect(try await server.count("refresh_token") == 2)
        for place in ["http://localhost:1/api", "https://elsewhere.example/api", "//elsewhere.example/api", "api"] {
            await #expect(throws: OAuthAccountError.self) {
                try await account.call("GET", place, headers: [:], body: nil)
            }
        }
        #expect(try await server.count("api") == 6)
    }

    @Test("logging out of an OAuth account revokes at the server, and leaves nothing here")
    func logOut() async throws {
        let server = try await ChosenServer.start()
        let account = try await server.account()
        #expect(try await account.logInAsAlice().name == "alice")
        #expect(try await account.introspect()["active"]?.bool == true)
        #expect(try await account.logOut(force: false)?.name == "alice")
        #expect(try await server.control()["revoked"]?.array == ["refresh-1"])
        let reopened = try #require(try await server.accounts().account("cloud"))
        #expect(await reopened.user() == nil)
        await #expect(throws: OAuthAccountError.loginRequired(account: "cloud")) { try await reopened.token() }
    }

    @Test("user information about another user is refused")
    func otherUser() async throws {
        let server = try await ChosenServer.start()
        let account = try await server.account()
        _ = try await account.logInAsAlice()
        // Nobody's subject is known here, so anybody's is as good.
        #expect(try await account.userInfo()["sub"]?.string == "somebody-else")
        try await server.set(["idToken": .string(try server.idToken())])
        _ = try await account.logInAsAlice()
        await #expect(throws: OAuthAccountError.userMismatch) { try await account.userInfo() }
    }
}

extension ChosenServer {
    /// An id_token for alice, signed with the client's secret, with some claims changed.
    func idToken(_ changes: [String: JSON?] = [:]) throws -> String {
        var claims: [String: JSON] = [
            "iss": .string(base + "/good"), "aud": "board", "sub": "alice-1", "preferred_username": "alice",
            "exp": .integer(Int64(Date().timeIntervalSince1970) + 600),
        ]
        for (name, value) in changes { claims[name] = value }
        return try JWS.sign(
            JSON.object(claims).bytes, algorithm: .HS256, key: .hmac(SecretBytes(utf8: "the secret of the client")))
    }
}
