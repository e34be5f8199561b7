import Cryptography
import FoundationEssentials
import Gateway
import Groundwork
import LocalAPI
import OAuth
import OAuthAccounts
import Vault

/// Accounts at OAuth 2.0 and OpenID Connect servers.
extension Agent {
    /// The account in the path of a request.
    ///
    /// - Returns: `nil` if the request is about a gateway's account, or one that does not exist.
    func oauthAccount(of request: LocalRequest) async throws -> OAuthAccount? {
        guard let text = request.parameters["account"] else { return nil }
        guard let name = AccountName(text) else { throw AccountError.nameInvalid }
        return accounts[name] == nil ? try await oauthAccounts.account(name.text) : nil
    }

    /// - Throws: ``AccountError/unknown(_:)``, ``AccountError/otherKind(_:kind:)``
    func requiredOAuthAccount(of request: LocalRequest) async throws -> OAuthAccount {
        if let account = try await oauthAccount(of: request) { return account }
        let name = try request.accountName()
        if try await mpinAccounts.names().contains(name.text) {
            throw AccountError.otherKind(name, kind: Account.Kind.mpin.text)
        }
        guard try await gateways.accounts()[name.text] != nil else { throw AccountError.unknown(name) }
        throw AccountError.otherKind(name, kind: Account.Kind.gateway.text)
    }

    /// - Throws: ``AccountError``, `OAuthAccountError` and others
    func addOAuthAccount(
        _ name: AccountName, _ server: ServerConfiguration, registration: OAuthAccounts.Registration?
    ) async throws -> OAuthAccount {
        await accountChange.lock()
        defer { accountChange.unlock() }
        guard name != .gateway, try await !accountNames().contains(name.text) else {
            throw AccountError.exists(name)
        }
        try await checkRoom(for: name)
        return try await oauthAccounts.add(name.text, server, registration: registration)
    }

    /// - Returns: whether there was such an account.
    func removeOAuthAccount(_ name: AccountName, force: Bool) async throws -> Bool {
        await accountChange.lock()
        defer { accountChange.unlock() }
        guard try await oauthAccounts.names().contains(name.text) else { return false }
        try requireNotCurrent(name)
        // Before a gateway's account can have the name: until then such grants allow nothing.
        try await endingGrants(at: name) { [vault] in try await vault.commit($0) }
        try await oauthAccounts.remove(name.text, force: force)
        return true
    }

    // MARK: Reports

    /// The state of an account, or why it cannot be used.
    func reportOfOAuthAccount(_ name: AccountName) async throws -> JSON {
        do {
            guard let account = try await oauthAccounts.account(name.text) else { throw AccountError.unknown(name) }
            return try await report(of: account, named: name)
        } catch let error as OAuthAccountError {
            return .object(identity(of: name, .oauth).merging(["lastError": .object(error.explanation.members)]) { $1 })
        }
    }

    func report(of account: OAuthAccount, named name: AccountName) async throws -> JSON {
        var members = identity(of: name, .oauth)
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
        return .object(members)
    }

    nonisolated func user(of account: OAuthAccount) async -> JSON {
        guard let user = await account.user() else { return ["loggedIn": false] }
        return [
            "loggedIn": true, "userName": (user.name ?? user.subject).map(JSON.string) ?? .null,
            "loggedInAt": .string(user.loggedInAt.formatted(.iso8601)),
        ]
    }

    /// Begins a login in a browser.
    nonisolated func beginBrowser(
        at account: OAuthAccount, scope: String?, loopbackPort: UInt16?
    ) async throws -> JSON {
        let begun = try await account.beginBrowser(scope: scope, loopbackPort: loopbackPort)
        let server = await account.server
        return [
            "id": .string(begun.id), "url": .string(begun.url), "provider": .string(server.issuer ?? server.clientID),
            "redirectUri": .string(begun.redirectURI),
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
