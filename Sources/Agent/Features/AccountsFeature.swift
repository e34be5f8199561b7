import Gateway
import Groundwork
import LocalAPI
import OAuthAccounts

/// The board's accounts: the default one and all others.
struct AccountsFeature: Feature {
    func addRoutes(to router: inout Router, of agent: Agent) {
        agent.addAccountRoutes(to: &router)
        agent.addOAuthAccountRoutes(to: &router)
    }

    var checks: [any HealthCheck] { [AccountsCheck(), OAuthAccountsCheck()] }

    var events: [any ReportedEvent.Type] { [AccountEvent.self, OAuthEvent.self] }

    func examine(_ agent: Agent, into state: inout AgentState) async throws {
        state.unusableAccount = await agent.accounts.unusable.min { $0.key < $1.key }
            .map { ($0.key.text, $0.value) }
        state.found[OAuthAccountsCheck.name] = .array(try await findings(agent))
        for account in await agent.accounts.all where account.name != .gateway {
            let status = try await account.session.status()
            state.otherAccounts.append(
                .init(
                    name: account.name.text, registration: status.registration,
                    certificateEnd: status.certificate?.notAfter, lastError: status.lastFailure?.error))
        }
    }

    private func findings(_ agent: Agent) async throws -> [JSON] {
        var findings: [JSON] = []
        for name in try await agent.oauthAccounts.names().compactMap(AccountName.init) {
            findings.append(try await agent.reportOfOAuthAccount(name))
        }
        return findings
    }

    var statusMembers: [String: Schema] { ["accounts": .array(of: .account, "the default one first")] }

    func status(of agent: Agent) async throws -> [String: JSON] {
        let reports = try await agent.accountReports()
        return reports.isEmpty ? [:] : ["accounts": .array(reports)]
    }
}
