import AgentCore
import Gateway
import Groundwork
import LocalAPI

/// Accounts at gateways, each with a registration, a broker connection and a session for users.
package struct GatewayKind: AccountKind {
    package let name = Gateways.kind
    package let gateways: GatewayAccounts

    package func names() async throws -> [AccountName] {
        try await gateways.store.accounts().keys.compactMap(AccountName.init)
    }

    package func report(_ name: AccountName) async throws -> [String: JSON] { try await gateways.report(of: name) }

    package func remove(_ name: AccountName, force: Bool, endGrants: @Sendable () async throws -> Void) async throws {
        try await gateways.removeAccount(name, endGrants: endGrants)
    }

    package var users: (any AccountUsers)? { gateways.added.users }
    package var browsers: (any AccountBrowsers)? { gateways.added.browsers }
    package var tokens: (any AccountTokens)? { gateways.added.tokens }
    package var calls: (any AccountCalls)? { gateways.added.calls }
}

extension GatewayAccounts {
    package func report(of name: AccountName) async throws -> [String: JSON] {
        guard let account = table[name] else { return try await reportWithoutSession(of: name) }
        let now = host.time.now
        let status = try await account.session.status()
        var members = status.report(at: now)
        members["start"] = startReport(of: name, status)
        members["user"] = try await account.session.user()?.json(at: now)
        if let lock = try await account.session.lockStatus() { members["user"] = lock.json(host.settings.unlockPolicy) }
        return members
    }

    /// What is known of an account that has no session: it is being switched, or its records cannot be used.
    ///
    /// - Throws: ``AccountError/unknown(_:)``, for the default account ``AgentError/notEnrolled``
    private func reportWithoutSession(of name: AccountName) async throws -> [String: JSON] {
        guard let gateway = try await store.accounts()[name.text] else {
            throw name == .gateway ? AgentError.notEnrolled : AccountError.unknown(name)
        }
        var members: [String: JSON] = [
            "gateway": gateway.json, "registration": ["state": "unknown"],
            "start": .object(startState(of: name).members),
        ]
        members["lastError"] = table.unusable[name].map { .object($0.members) }
        return members
    }

    package func startReport(of name: AccountName, _ status: GatewayStatus) -> JSON {
        var members = startState(of: name).members
        members["authentication"] = .string(Authentication(status).rawValue)
        return .object(members)
    }
}
