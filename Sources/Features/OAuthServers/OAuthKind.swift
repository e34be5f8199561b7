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
        } onLogInNeeded: { [weak host] name, error in
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
        let server = await account.server
        var described: [String: JSON] = [
            "clientID": .string(server.clientID), "authentication": .string(server.authentication.rawValue),
            "grant": .string(server.grant.rawValue), "scope": .string(server.scope),
            "redirectURI": .string(server.redirectURI), "resources": .array(server.resources.map(JSON.string)),
            "endpoints": .object(
                Dictionary(uniqueKeysWithValues: server.endpoints.map { ($0.key.rawValue, .string($0.value)) })),
        ]
        described["issuer"] = server.issuer.map(JSON.string)
        described["publicKey"] = try await account.publicKey()
        members["server"] = .object(described)
        members["tokens"] = .array(
            await account.tokens().map { token in
                var shown: [String: JSON] = [
                    "scope": .string(token.scope), "canBeRefreshed": .bool(token.canBeRefreshed),
                ]
                shown["lifeLeft"] = token.lifeLeft.map { .integer(Int64($0)) }
                return .object(shown)
            })
        members["needsPerson"] = .bool(await account.needsPerson)
        if await account.user() != nil { members["user"] = await user(of: account) }
        if let failure = await account.lastFailure {
            members["lastError"] = .object(
                failure.error.members.merging(["time": .string(failure.time.formatted(.iso8601))]) { $1 })
        }
        return members
    }

    func user(of account: OAuthAccount) async -> JSON {
        guard let user = await account.user() else { return ["loggedIn": false] }
        return [
            "loggedIn": true, "userName": (user.name ?? user.subject).map(JSON.string) ?? .null,
            "loggedInAt": .string(user.loggedInAt.formatted(.iso8601)),
        ]
    }
}

extension AccessToken {
    /// For the program that asked for it.
    var json: JSON {
        var members: [String: JSON] = [
            "accessToken": .string(value.exposedText()), "scope": .string(scope.sorted().joined(separator: " ")),
        ]
        if isEndKnown { members["expiresAt"] = .string(expiresAt.formatted(.iso8601)) }
        return .object(members)
    }
}
