import AgentCore
import Gateway
import Groundwork
import LocalAPI

/// The board's accounts of every kind, the default one first; and those at gateways.
package struct AccountsFeature: Feature {
    package let host: Host
    private let gateways: GatewayAccounts

    package init(_ host: Host) {
        self.host = host
        gateways = host.feature(GatewayFeature.self).gateways
    }

    package func addRoutes(to router: inout Router) {
        host.accounts.addRoutes(to: &router, of: host.featureTypes)
    }

    package static var checks: [any HealthCheck] { [AccountsCheck()] }

    package static var events: [any ReportedEvent.Type] { [AccountEvent.self] }

    package static var accountMembers: [String: Schema] { Schema.gatewayMembers }

    package func examine(into state: inout AgentState) async throws {
        state.gateway.unusableAccount = await gateways.table.unusable.min { $0.key < $1.key }
            .map { ($0.key.text, $0.value) }
        for account in await gateways.table.all where account.name != .gateway {
            let status = try await account.session.status()
            state.gateway.otherAccounts.append(
                .init(
                    name: account.name.text, registration: status.registration,
                    certificateEnd: status.certificate?.notAfter, lastError: status.lastFailure?.error))
        }
    }

    package static var statusMembers: [String: Schema] {
        ["accounts": .array(of: .reference(to: "Account"), "the default one first")]
    }

    package func status() async throws -> [String: JSON] {
        let reports = try await host.accounts.reports()
        return reports.isEmpty ? [:] : ["accounts": .array(reports)]
    }
}
