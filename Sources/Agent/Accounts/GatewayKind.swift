import Gateway
import Groundwork
import LocalAPI

/// Accounts at gateways, each with a registration, a broker connection and a session for users.
struct GatewayKind: AccountKind {
    let name = Gateways.kind
    unowned let agent: Agent

    func names() async throws -> [AccountName] {
        try await agent.gateways.accounts().keys.compactMap(AccountName.init)
    }

    func report(_ name: AccountName) async throws -> [String: JSON] {
        guard let account = await agent.accounts[name] else { return try await agent.reportWithoutSession(of: name) }
        return try await agent.report(of: account)
    }

    func remove(_ name: AccountName, force: Bool, endGrants: @Sendable () async throws -> Void) async throws {
        try await agent.removeAccount(name, endGrants: endGrants)
    }

    func session(_ name: AccountName) async throws -> GatewaySession { try await agent.account(name).session }

    var users: (any AccountUsers)? { self }
    var browsers: (any AccountBrowsers)? { self }
    var tokens: (any AccountTokens)? { self }
    var calls: (any AccountCalls)? { self }
}

extension Agent {
    /// The account at a gateway that a request is about: the one in its path, else the default one.
    ///
    /// - Throws: ``AccountError``, ``AgentError/notEnrolled``
    func account(of request: LocalRequest) async throws -> Account {
        let name = try request.accountName()
        if let account = accounts[name] { return account }
        if let kind = try await host.accounts.kind(of: name), kind.name != Gateways.kind {
            throw AccountError.otherKind(name, kind: kind.name)
        }
        return try account(name)
    }

    func report(of account: Account) async throws -> [String: JSON] {
        let now = time.now
        let status = try await account.session.status()
        var members = status.report(at: now)
        members["start"] = startReport(of: account.name, status)
        members["user"] = try await account.session.user()?.json(at: now)
        if let lock = try await account.session.lockStatus() { members["user"] = lock.json(configuration.unlockPolicy) }
        return members
    }

    /// What is known of an account that has no session: it is being switched, or its records cannot be used.
    ///
    /// - Throws: ``AccountError/unknown(_:)``, for the default account ``AgentError/notEnrolled``
    func reportWithoutSession(of name: AccountName) async throws -> [String: JSON] {
        guard let gateway = try await gateways.accounts()[name.text] else {
            throw name == .gateway ? AgentError.notEnrolled : AccountError.unknown(name)
        }
        var members: [String: JSON] = [
            "gateway": gateway.json, "registration": ["state": "unknown"],
            "start": .object(startState(of: name).members),
        ]
        members["lastError"] = accounts.unusable[name].map { .object($0.members) }
        return members
    }
}
