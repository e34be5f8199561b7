import Cryptography
import Foundation
import Groundwork
import HTTPClient
import OAuth
import TestSupport
import Testing

@testable import OAuthAccounts

@Suite("Registration at OAuth servers", .timeLimit(.minutes(8)))
struct RegistrationTests {
    private static let post = "POST /register"
    private static let delete = "DELETE /register/1"

    /// A server that registers clients as this answer says.
    private func server(
        answering changes: [String: JSON?] = [:], methods: JSON? = ["none", "client_secret_basic"]
    ) async throws -> ChosenServer {
        var answer: [String: JSON] = [
            "client_id": "made", "registration_access_token": "manage",
            "registration_client_uri": "BASE/register/1",
        ]
        for (name, value) in changes { answer[name] = value }
        let server = try await ChosenServer.start()
        try await server.can(
            [Self.post: ["status": 201, "json": .object(answer)], Self.delete: ["status": 204, "text": ""]],
            description: ChosenServer.description([
                "registration_endpoint": "BASE/register", "token_endpoint_auth_methods_supported": methods,
            ]))
        return server
    }

    private func add(
        at server: ChosenServer, grant: ServerConfiguration.Grant = .deviceCode, scope: String = "",
        _ change: (inout ServerConfiguration) -> Void = { _ in }
    ) async throws -> (account: ServerConfiguration, sent: JSON) {
        var configuration = ServerConfiguration()
        (configuration.issuer, configuration.grant, configuration.scope) = (server.base, grant, scope)
        change(&configuration)
        var registration = OAuthAccounts.Registration()
        registration.choosesAuthentication = true
        let account = try await server.accounts().add("cloud", configuration, registration: registration)
        let body = try #require(try await server.control()["form"]?["body"]?.string)
        return (await account.server, try JSON(parsing: Array(body.utf8)))
    }

    @Test("a client asks for a way to authenticate that the server offers, as a native application")
    func offered() async throws {
        for (methods, grant, way) in [
            (["client_secret_post", "none"], .deviceCode, "none"),
            (["private_key_jwt", "client_secret_post"], .deviceCode, "client_secret_post"),
            (["private_key_jwt"], .authorizationCode, "private_key_jwt"),
            (["none", "client_secret_post"], .clientCredentials, "client_secret_post"),
            (nil, .deviceCode, "client_secret_basic"),
        ] as [(JSON?, ServerConfiguration.Grant, String)] {
            let server = try await server(answering: ["client_secret": "given"], methods: methods)
            let (account, sent) = try await add(at: server, grant: grant) { $0.algorithm = .ES256 }
            #expect(sent["token_endpoint_auth_method"]?.string == way)
            #expect(sent["application_type"] == "native")
            #expect((sent["jwks"] != nil) == (way == "private_key_jwt"))
            // A server that says nothing of the way has not changed it, but for a secret that nobody asked for.
            #expect(account.authentication.rawValue == (way == "none" ? "client_secret_basic" : way))
            #expect(account.clientID == "made")
        }
    }

    @Test("a client is used as the server has registered it, whatever was asked for")
    func replaced() async throws {
        let server = try await server(answering: [
            "client_secret": "given", "client_secret_expires_at": 4_000_000_000,
            "token_endpoint_auth_method": "client_secret_post", "scope": "profile orders",
            "redirect_uris": ["http://127.0.0.1:8400/other"],
        ])
        let (account, sent) = try await add(at: server, scope: "openid orders secrets")
        #expect(sent["token_endpoint_auth_method"] == "none" && sent["scope"] == "openid orders secrets")
        #expect(account.authentication == .post && account.secret == SecretBytes(utf8: "given"))
        #expect(account.secretExpires == Date(timeIntervalSince1970: 4_000_000_000))
        #expect(account.scope == "openid orders" && account.redirectURI == "http://127.0.0.1:8400/other")
        let opened = try #require(try await server.accounts().account("cloud"))
        try await opened.logInByDevice()
        let form = try await server.control()["forms"]?.array?.last
        #expect(form?["client_id"] == "made" && form?["client_secret"] == "given")
    }

    @Test("a client that cannot be used as the server has registered it is unregistered again")
    func unusable() async throws {
        for changes in [
            ["token_endpoint_auth_method": "tls_client_auth"], ["token_endpoint_auth_method": "client_secret_basic"],
            ["grant_types": ["authorization_code"]], ["token_endpoint_auth_method": "private_key_jwt"],
            ["redirect_uris": ["nowhere"]],
        ] as [[String: JSON]] {
            let server = try await server(answering: changes)
            await #expect(throws: OAuthAccountError.self, "\(changes)") { try await add(at: server) }
            #expect(try await server.count(Self.delete) == 1)
            #expect(try await server.accounts().names() == [])
        }
    }

    @Test("nothing is registered that would be refused here, and a refusal of the server is told")
    func refusedBefore() async throws {
        let server = try await server(methods: ["tls_client_auth"])
        await #expect(throws: OAuthAccountError.self) { try await add(at: server) }
        let other = try await self.server()
        for change in [
            { $0.resources = ["http://api.example"] }, { $0.redirectURI = "nowhere" }, { $0.scope = "a\nb" },
            { $0.authorities = "none" },
            {
                $0.grant = .clientCredentials
                $0.endpoints = [.token: "http://x.example"]
            },
        ] as [(inout ServerConfiguration) -> Void] {
            await #expect(throws: (any Error).self) { try await add(at: other, change) }
        }
        for server in [server, other] { #expect(try await server.count(Self.post) == 0) }
        try await other.can(
            [Self.post: ["json": ["error": "invalid_redirect_uri"]]],
            description: ChosenServer.description(["registration_endpoint": "BASE/register"]))
        let refusal = OAuthRefusal(status: 200, error: "invalid_redirect_uri", text: nil)
        await #expect(throws: OAuthAccountError.refused(endpoint: "registration_endpoint", refusal)) {
            try await add(at: other)
        }
    }
}
