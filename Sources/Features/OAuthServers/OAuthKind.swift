import AgentCore
import Cryptography
import FoundationEssentials
import Groundwork
import LocalAPI
import OAuth
import OAuthAccounts
import Prompts

/// Accounts at OAuth 2.0 and OpenID Connect servers.
final class OAuthKind: AccountKind {
    let name = "oauth"
    let servers: OAuthAccounts
    let host: Host

    init(_ host: Host) {
        self.host = host
        servers = OAuthAccounts(vault: host.vault, client: host.client) { [time = host.time] in
            time.now
        } onLoginNeeded: { [weak host] name, error in
            guard let name = AccountName(name) else { return }
            host?.report(OAuthEvent.logInNeeded(error), of: name)
        }
    }

    func names() async throws -> [AccountName] { try await servers.names().compactMap(AccountName.init) }

    /// - Throws: ``AccountError/unknown(_:)``, ``AccountError/otherKind(_:kind:)``
    func account(_ name: AccountName) async throws -> OAuthAccount {
        guard name != .gateway, let account = try await servers.account(name.text) else {
            throw try await host.accounts.fault(of: name, notOf: self.name)
        }
        return account
    }

    func remove(_ name: AccountName, force: Bool, endGrants: @Sendable () async throws -> Void) async throws {
        try await endGrants()
        try await servers.remove(name.text, force: force)
    }

    var users: (any AccountUsers)? { self }
    var browsers: (any AccountBrowsers)? { self }
    var tokens: (any AccountTokens)? { self }
    var calls: (any AccountCalls)? { self }

    // MARK: Reports

    func report(_ name: AccountName) async throws -> [String: JSON] {
        do {
            return try await report(of: try await account(name))
        } catch let error as OAuthAccountError {
            return ["lastError": .object(error.explanation.members)]
        }
    }

    private func report(of account: OAuthAccount) async throws -> [String: JSON] {
        var members: [String: JSON] = [:]
        members["server"] = OAuthServerReport.server.json((await account.server, try await account.publicKey()))
        members["tokens"] = .array(await account.tokens().map { OAuthServerReport.token.json($0) })
        members["needsPerson"] = .bool(await account.needsPerson)
        if await account.user() != nil { members["user"] = await user(of: account) }
        if let failure = await account.lastFailure {
            members["lastError"] = .object(
                failure.error.members.merging(["time": .string(failure.time.formatted(.iso8601))]) { $1 })
        }
        return members
    }

    func user(of account: OAuthAccount) async -> JSON {
        guard await account.fault == nil else { return ["loggedIn": false, "hidden": true] }
        guard let user = await account.user() else { return ["loggedIn": false] }
        return [
            "loggedIn": true, "userName": (user.name ?? user.subject).map(JSON.string) ?? .null,
            "loggedInAt": .string(user.loggedInAt.formatted(.iso8601)),
        ]
    }
}

/// For the program that asked for it.
extension AccessToken: Answered {
    package static let answer: Answer<AccessToken> = [
        "accessToken": .schema(Schema.string("token for an Authorization header of type Bearer").asSensitive) {
            $0.value.exposedText()
        },
        "expiresAt": .of(Schema.endOfToken) { $0.isEndKnown ? $0.expiresAt : nil },
        "scope": .of("scopes separated by blanks") { $0.scope.sorted().joined(separator: " ") },
    ]
}

/// What the report of an account has.
enum OAuthServerReport {
    static let server: Answer<(server: ServerConfiguration, publicKey: JSON?)> = [
        "issuer": .of("the server") { $0.server.issuer },
        "endpoints": .schema(.endpoints) {
            [String: JSON](uniqueKeysWithValues: $0.server.endpoints.map { ($0.key.rawValue, .string($0.value)) })
        },
        "clientID": .of("the board's client ID at the server") { $0.server.clientID },
        "authentication": .schema(.choice("how the client authenticates", of: ServerConfiguration.Authentication.self))
        {
            $0.server.authentication.rawValue
        },
        "grant": .schema(.choice("how the first token is obtained", of: ServerConfiguration.Grant.self)) {
            $0.server.grant.rawValue
        },
        "scope": .of("scopes separated by blanks") { $0.server.scope },
        "redirectURI": .of("final address of browsers") { $0.server.redirectURI },
        "resources": .schema(.array(of: .string("an address"), "addresses that tokens may be sent to")) {
            $0.server.resources
        },
        "publicKey": .schema(.openObject("the client's key as a JWK, to be registered at the server")) { $0.publicKey },
    ]

    static let token: Answer<(scope: String, lifeLeft: Double?, canBeRefreshed: Bool)> = [
        "scope": .of("scopes separated by blanks") { $0.scope },
        "lifeLeft": .of("in seconds; negative if it has expired; missing if the server does not say") {
            $0.lifeLeft.map { Int($0) }
        },
        "canBeRefreshed": .of("whether it can be renewed without a user") { $0.canBeRefreshed },
    ]
}
