import AgentCore
import Groundwork
import LocalAPI
import OAuthAccounts
import Vault

/// Accounts at OAuth 2.0 and OpenID Connect servers.
package struct OAuthFeature: Feature {
    let host: Host
    let kind: OAuthKind

    package init(_ host: Host) {
        self.host = host
        kind = OAuthKind(host)
    }

    package static var checks: [any HealthCheck] { [OAuthAccountsCheck()] }

    package static var accountMembers: [String: Schema] {
        [
            "user": .user,
            "server": OAuthServerReport.server.schema(
                "An OAuth 2.0 or OpenID Connect server, and this board's client there"),
            "tokens": .array(of: OAuthServerReport.token.schema(), "at an OAuth server, one for each scope"),
            "needsPerson": .boolean("whether a user must log in first"),
        ]
    }

    package static var recordRules: RecordRules { RecordRules { OAuthAccounts.needsKey($0, $2) } }

    package static var errors: [any Explained.Type] { [OAuthAccountError.self] }

    package static var events: [any ReportedEvent.Type] { [OAuthEvent.self] }

    package var accountKinds: [any AccountKind] { [kind] }

    package func passcodeDidChange() async { await kind.servers.refresh() }

    package func personalRecords() async throws(VaultError) -> [RecordName] {
        try await kind.servers.personalRecords()
    }

    package func examine(into state: inout AgentState) async throws {
        var findings: [JSON] = []
        for name in try await kind.names() { findings.append(try await host.accounts.report(name)) }
        state.found[OAuthAccountsCheck.name] = .array(findings)
    }
}
