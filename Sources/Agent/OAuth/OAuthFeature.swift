import Groundwork
import LocalAPI

/// Accounts at OAuth 2.0 and OpenID Connect servers.
struct OAuthFeature: Feature {
    let host: Host
    let kind: OAuthKind

    init(_ host: Host) {
        self.host = host
        kind = OAuthKind(host)
    }

    static var checks: [any HealthCheck] { [OAuthAccountsCheck()] }

    static var accountMembers: [String: Schema] {
        [
            "user": .user, "server": .oauthServer, "tokens": .oauthTokens,
            "needsPerson": .boolean("whether somebody has to log in first"),
        ]
    }

    static var events: [any ReportedEvent.Type] { [OAuthEvent.self] }

    var accountKinds: [any AccountKind] { [kind] }

    func examine(into state: inout AgentState) async throws {
        var findings: [JSON] = []
        for name in try await kind.names() { findings.append(try await host.accounts.report(name)) }
        state.found[OAuthAccountsCheck.name] = .array(findings)
    }
}
