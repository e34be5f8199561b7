import Gateway
import Groundwork
import LocalAPI
import MPin
import OAuthAccounts
import Vault

/// Accounts at M-Pin back ends.
extension Agent {
    /// The account in the path of a request.
    ///
    /// - Throws: ``AccountError/unknown(_:)``, ``AccountError/otherKind(_:kind:)``
    func mpinAccount(of request: LocalRequest) async throws -> MPinAccount {
        try await mpinAccount(try request.accountName())
    }

    func mpinAccount(_ name: AccountName) async throws -> MPinAccount {
        if let account = try await mpinAccounts.account(name.text) { return account }
        if try await gateways.accounts()[name.text] != nil {
            throw AccountError.otherKind(name, kind: Account.Kind.gateway.text)
        }
        if try await oauthAccounts.names().contains(name.text) {
            throw AccountError.otherKind(name, kind: Account.Kind.oauth.text)
        }
        throw AccountError.unknown(name)
    }

    /// - Throws: ``AccountError``, `MPinError` and others
    func addMPinAccount(_ name: AccountName, _ configuration: MPinConfiguration) async throws {
        await accountChange.lock()
        defer { accountChange.unlock() }
        guard name != .gateway, try await !accountNames().contains(name.text) else {
            throw AccountError.exists(name)
        }
        try await checkRoom(for: name)
        try await mpinAccounts.add(name.text, configuration)
    }

    /// - Returns: whether there was such an account.
    func removeMPinAccount(_ name: AccountName) async throws -> Bool {
        await accountChange.lock()
        defer { accountChange.unlock() }
        guard try await mpinAccounts.names().contains(name.text) else { return false }
        try requireNotCurrent(name)
        // Before a gateway's account can have the name: until then such grants allow nothing.
        try await endingGrants(at: name) { [vault] in try await vault.commit($0) }
        try await mpinAccounts.remove(name.text)
        return true
    }

    /// The names of accounts of every kind.
    func accountNames() async throws -> Set<String> {
        Set(try await gateways.accounts().keys).union(try await oauthAccounts.names())
            .union(try await mpinAccounts.names())
    }

    /// The state of an account by what is stored here, or why it cannot be used.
    func reportOfMPinAccount(_ name: AccountName) async throws -> JSON {
        var members = identity(of: name, .mpin)
        do {
            let account = try await mpinAccount(name)
            let configuration = account.configuration
            var backend: [String: JSON] = [
                "url": .string(configuration.url), "prefix": .string(configuration.prefix),
            ]
            backend["clientID"] = configuration.clientID.map(JSON.string)
            members["backend"] = .object(backend)
            members["users"] = .array(try await account.users().map(\.json))
        } catch let error as MPinError {
            members["lastError"] = .object(error.explanation.members)
        }
        return .object(members)
    }

    func mpinReports() async throws -> [JSON] {
        var reports: [JSON] = []
        for name in try await mpinAccounts.names().compactMap(AccountName.init) {
            reports.append(try await reportOfMPinAccount(name))
        }
        return reports
    }

    // MARK: Unlocking

    /// Whether unlocking takes a login that nobody can make, by what is stored here.
    func lacksPersonForUnlocking() async -> Bool {
        do {
            _ = try await personForUnlocking()
            return false
        } catch {
            return true
        }
    }

    /// Whose login by M-Pin unlocking a user's session takes; `nil` if it takes none.
    ///
    /// - Throws: ``MPinPromptError/noUserForUnlocking(account:user:)``
    func personForUnlocking() async throws -> MPinPerson? {
        let (account, user) = (configuration[LockFeature.mpinAccount], configuration[LockFeature.mpinUser])
        guard !account.isEmpty else { return nil }
        let fault = MPinPromptError.noUserForUnlocking(account: account, user: user)
        guard let name = AccountName(account), let found = try await mpinAccounts.account(account),
            try await found.users().contains(where: { $0.id == user && $0.state == .registered })
        else { throw fault }
        return MPinPerson(account: found, name: name, id: user)
    }
}
