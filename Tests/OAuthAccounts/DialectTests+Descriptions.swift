import Cryptography
import Foundation
import Groundwork
import OAuth
import TestSupport
import Testing

@testable import OAuthAccounts

/// How servers describe themselves.
extension DialectTests {
    @Test(
        "a server that calls itself otherwise is refused with both names, and with what to type",
        arguments: [
            ("", "BASE/", "--issuer BASE/"), ("/common/v2.0", "BASE/{tenantid}/v2.0", "many tenants"),
            ("", "https://other.example", "intercepted"),
        ])
    func otherIssuer(path: String, found: String, remedy: String) async throws {
        let server = try await ChosenServer.start()
        try await server.can([
            "GET \(path)/.well-known/openid-configuration": ChosenServer.description(["issuer": .string(found)])
        ])
        let (issuer, name) = (server.base + path, found.replacing("BASE", with: server.base))
        let error = await #expect(throws: OAuthAccountError.issuerWrong(expected: issuer, found: name)) {
            try await server.cannedAccount { $0.issuer = issuer }
        }
        let explanation = try #require(error?.explanation)
        #expect(explanation.message.contains(issuer) && explanation.message.contains("identifies itself as \(name)"))
        #expect(explanation.remedy?.contains(remedy.replacing("BASE", with: server.base)) == true)
        #expect((explanation.remedy?.contains("intercepted") == true) == (remedy == "intercepted"))
    }

    // MARK: Endpoints

    @Test("plain http endpoints that a grant needs are all named, and those that it does not need are left out")
    func plainEndpoints() async throws {
        let server = try await ChosenServer.start()
        let inner = "http://id.internal.example:8080"
        let others: [String: JSON?] = [
            "jwks_uri": .string(inner + "/keys"), "userinfo_endpoint": .string(inner + "/me"),
        ]
        let withToken = others.merging(["token_endpoint": .string(inner + "/token")]) { $1 }
        try await server.can(description: ChosenServer.description(withToken))
        let named = ["token_endpoint \(inner)/token", "jwks_uri \(inner)/keys", "userinfo_endpoint \(inner)/me"]
        await #expect(throws: OAuthAccountError.endpointsUnusable(named)) { try await server.cannedAccount() }
        // What a person names stands in for what the server names.
        let account = try await server.cannedAccount { $0.endpoints = [.token: server.base + "/token"] }
        try await account.logInByDevice()

        try await server.can(description: ChosenServer.description(others))
        await #expect(throws: OAuthAccountError.endpointsUnusable(Array(named.dropFirst()))) {
            try await server.cannedAccount(scope: "openid")
        }
        try await server.accounts().remove("cloud", force: true)
        // An id_token that nobody asked for is not read without keys.
        var answer = ChosenServer.token
        answer["id_token"] = "e30.e30.e30"
        try await server.can(
            ["POST /token": ["json": .object(answer)]], description: ChosenServer.description(others))
        let plain = try await server.cannedAccount()
        try await plain.logInByDevice()
        await #expect(throws: OAuthAccountError.endpointMissing("userinfo_endpoint")) { try await plain.userInfo() }
    }

    @Test("a server does not name plain services of this machine that nobody else has named")
    func otherPort() async throws {
        let (server, other) = (try await ChosenServer.start(), try await ChosenServer.start())
        try await server.can(
            description: ChosenServer.description(["token_endpoint": .string(other.base + "/token")]))
        await #expect(throws: OAuthAccountError.endpointsUnusable(["token_endpoint \(other.base)/token"])) {
            try await server.cannedAccount()
        }
        // What a person names may be anywhere on it.
        _ = try await server.cannedAccount { $0.endpoints = [.token: other.base + "/token"] }
    }

    @Test("an assertion by which the client proves itself is for the issuer, or for whom a person says")
    func audience() async throws {
        let (server, account) = try await ChosenServer.canned { $0.authentication = .privateKey }
        try await account.logInByDevice()
        let second = try await server.account("second") { own in
            (own.issuer, own.authentication, own.grant) = (server.base, .privateKey, .deviceCode)
            own.audience = "https://id.example/token"
        }
        try await second.logInByDevice()
        // A server that was described by hand has no issuer.
        let third = try await server.account("third", grant: .clientCredentials) { own in
            (own.issuer, own.authentication) = (nil, .privateKey)
            own.endpoints = [.token: server.base + "/token"]
        }
        _ = try await third.token()
        let sent = try await server.control()["forms"]?.array?.filter { $0["to"] == "POST /token" }
        let audiences = sent?.compactMap { $0["client_assertion"]?.string }.map { JWS.claims(of: $0)?["aud"]?.string }
        #expect(audiences == [server.base, "https://id.example/token", server.base + "/token"])
    }
}
