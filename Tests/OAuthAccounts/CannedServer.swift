import Cryptography
import Foundation
import Groundwork
import HTTPClient
import OAuth
import Testing

@testable import OAuthAccounts

/// Answers as other people's servers give them. Each test changes those of a plain server that lets in whoever asks.
extension ChosenServer {
    /// The description of the server, with some members changed.
    static func description(_ changes: [String: JSON?] = [:]) -> JSON {
        var members: [String: JSON] = [
            "issuer": "BASE", "authorization_endpoint": "BASE/authorize", "token_endpoint": "BASE/token",
            "device_authorization_endpoint": "BASE/device", "jwks_uri": "BASE/keys",
            "response_types_supported": ["code"], "id_token_signing_alg_values_supported": ["RS256"],
            "token_endpoint_auth_methods_supported": ["none", "client_secret_basic", "private_key_jwt"],
        ]
        for (name, value) in changes { members[name] = value }
        return ["json": .object(members)]
    }

    static let device: [String: JSON] = [
        "device_code": "DEVICE-1", "user_code": "ABCD-EFGH", "verification_uri": "BASE/activate", "expires_in": 300,
        "interval": 1,
    ]

    static let token: [String: JSON] = ["access_token": "ACCESS-1", "token_type": "Bearer", "expires_in": 3600]

    /// Where the server describes itself.
    static let well = "GET /.well-known/openid-configuration"

    /// Answers from this table only, from now on.
    func can(_ answers: [String: JSON] = [:], description: JSON = description()) async throws {
        let plain: [String: JSON] = [
            Self.well: description, "POST /device": ["json": .object(Self.device)],
            "POST /token": ["json": .object(Self.token)],
        ]
        try await set(["canned": .object(plain.merging(answers) { $1 })])
    }

    /// A server that answers from the table, and an account of a public client there.
    static func canned(
        _ answers: [String: JSON] = [:], description: JSON = description(),
        grant: ServerConfiguration.Grant = .deviceCode, scope: String = "",
        _ change: (inout ServerConfiguration) -> Void = { _ in }
    ) async throws -> (ChosenServer, OAuthAccount) {
        let server = try await start()
        try await server.can(answers, description: description)
        return (server, try await server.cannedAccount(grant: grant, scope: scope, change))
    }

    func cannedAccount(
        grant: ServerConfiguration.Grant = .deviceCode, scope: String = "",
        _ change: (inout ServerConfiguration) -> Void = { _ in }
    ) async throws -> OAuthAccount {
        try await account(grant: grant, scope: scope) { server in
            (server.issuer, server.clientID) = (base, "board-7")
            (server.authentication, server.secret) = (.none, nil)
            change(&server)
        }
    }
}

extension OAuthAccount {
    /// The whole login by a code that is shown.
    @discardableResult
    func logInByDevice() async throws -> AccountUser { try await awaitDevice(try await beginDevice()) }
}
