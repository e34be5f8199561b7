import Cryptography
import Foundation
import Groundwork
import HTTPClient
import OAuth
import TestSupport
import Testing
import Vault

@testable import OAuthAccounts

/// How the accounts of logins are made and removed.
extension LoginTests {
    @Test("a server's description by another, or one that cannot be used, makes no account")
    func hostileDescriptions() async throws {
        let server = try await ChosenServer.start()
        for (issuer, code) in [
            ("other-issuer", "oauth.issuer-wrong"), ("huge", "http.response-too-large"),
            ("redirecting", "oauth.redirected"), ("html", "oauth.metadata-invalid"),
            ("deep", "oauth.metadata-invalid"), ("plain", "oauth.endpoints-unusable"),
            ("script", "oauth.endpoints-unusable"),
        ] {
            do {
                _ = try await server.account("hostile", issuer: issuer, grant: .authorizationCode)
                Issue.record("\(issuer) was accepted")
            } catch {
                #expect(Explanation(of: error).code == code, "\(issuer)")
            }
        }
        #expect(try await server.accounts().names() == [])
        #expect(try await server.control()["counts"] == [:])
    }

    @Test("an OAuth server proves itself to the account's own authorities, else to those of the system")
    func authorities() async throws {
        let (authority, stranger) = (try TestAuthority(), try TestAuthority("Stranger"))
        let server = try await ChosenServer.start(try authority.localhost())
        func add(_ name: String, trusting authorities: String?) async throws -> OAuthAccount {
            try await server.account(name, grant: .clientCredentials) { $0.authorities = authorities }
        }
        for wrong in [nil, stranger.certificate.pem] {
            do {
                _ = try await add("wrong", trusting: wrong)
                Issue.record("the server was trusted")
            } catch {
                #expect(Explanation(of: error).code == "http.server-not-trusted")
            }
        }
        let account = try await add("right", trusting: authority.certificate.pem)
        #expect(try await account.token().value.exposedText() == "access-1")
        #expect(try await account.call("GET", "/api", headers: [:], body: nil).status == 200)
    }

    @Test("an OAuth account that lacks something is refused before anything is sent (OAMMS checklist 90)")
    func incomplete() async throws {
        let server = try await ChosenServer.start()
        for grant in ServerConfiguration.Grant.allCases {
            await #expect(throws: OAuthAccountError.self, "\(grant)") {
                try await server.account("none", grant: grant) { $0.issuer = nil }
            }
        }
        await #expect(throws: OAuthAccountError.self) {
            try await server.account("none", grant: .clientCredentials) { $0.authentication = .none }
        }
        await #expect(throws: OAuthAccountError.self) { try await server.account("none") { $0.clientID = "" } }
        await #expect(throws: OAuthAccountError.self) { try await server.account("none") { $0.secret = nil } }
        await #expect(throws: OAuthAccountError.self) {
            try await server.account("none") { $0.resources = ["http://api.example"] }
        }
        #expect(try await server.accounts().names() == [])
    }

    @Test("a client that registers itself sends its key, and is deleted with its account (OAMMS checklist 111)")
    func registration() async throws {
        let server = try await ChosenServer.start()
        var configuration = ServerConfiguration()
        configuration.issuer = server.base + "/good"
        (configuration.grant, configuration.authentication) = (.clientCredentials, .privateKey)
        let accounts = server.accounts()
        let account = try await accounts.add("own", configuration, registration: .init())
        #expect(await account.server.clientID == "registered")
        _ = try await account.token()
        #expect(try await server.form("client_id") == "registered")
        try await accounts.remove("own", force: false)
        #expect(try await server.count("delete") == 1)
        #expect(try await server.count("revoke") == 1)
        #expect(try await accounts.names() == [])
        #expect(try await server.vault.names(scope: "account/own") == [])
    }

    @Test("an OAuth account that is removed is not opened again by whoever asks for it meanwhile")
    func removedWhileUsed() async throws {
        let server = try await ChosenServer.start()
        for _ in 0..<8 {
            // An account that is open, and one that is not.
            for name in ["one", "two"] { _ = try await server.account(name) }
            let accounts = server.accounts()
            _ = try await accounts.account("one")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for name in ["one", "two"] {
                    for _ in 0..<4 { group.addTask { _ = try await accounts.account(name) } }
                    group.addTask { try await accounts.remove(name, force: false) }
                    for _ in 0..<4 { group.addTask { _ = try await accounts.account(name) } }
                }
                try await group.waitForAll()
            }
            for name in ["one", "two"] { #expect(try await accounts.account(name) == nil) }
        }
    }
}
