import AgentCore
import AgentGateway
import AgentNearby
import Gateway
import Groundwork
import LocalAPI
import Proximity
import Settings

/// People who log in on this board.
package struct UsersFeature: Feature {
    let host: Host
    let gateways: GatewayAccounts
    let nearby: Nearby

    package init(_ host: Host) {
        self.host = host
        gateways = host.feature(GatewayFeature.self).gateways
        nearby = host.feature(NearbyFeature.self).nearby
        let users = GatewayUsers(gateways: gateways, browserLogins: BrowserLogins())
        gateways.added.users = users
        gateways.added.browsers = users
    }

    package static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        root.table("login") { table in
            table.choice(
                "flow", &configuration[UserSettings.self].flow, ["client-credentials", "password"].map { ($0, $0) })
            table.integer("ask_seconds", &configuration[UserSettings.self].askSeconds, in: 0...3600)
            table.flag("page", &configuration[UserSettings.self].page)
            table.flag("keep_user_on_error", &configuration[LoginSettings.self].keepUserOnError)
            table.integer("poll_delay_seconds", &configuration[PollingSettings.self].delaySeconds, in: 0...120)
            table.integer("poll_seconds", &configuration[PollingSettings.self].seconds, in: 1...60)
            table.integer("poll_limit", &configuration[PollingSettings.self].limit, in: 1...120)
        }
    }

    package func addRoutes(to router: inout Router) {
        router.addOfAccounts(defaultOnly: ["/v1/login/nearby"]) {
            addUserRoutes(to: &$0)
            addLoginRoutes(to: &$0)
            addBrowserLoginRoutes(to: &$0)
        }
    }

    package static var statusMembers: [String: Schema] { ["user": .user] }

    package func status() async throws -> [String: JSON] {
        guard let session = await gateways.link?.session else { return [:] }
        if try await session.userFault() != nil { return ["user": ["loggedIn": false, "hidden": true]] }
        guard let user = try await session.user() else { return [:] }
        return ["user": user.json(at: host.time.now)]
    }
}
