import AgentCore
import Gateway
import Groundwork
import LocalAPI
import Proximity
import Settings

/// People who log in on this board.
struct UsersFeature: Feature {
    static let flow = Setting("login.flow", preset: "client-credentials")
    static let askSeconds = Setting("login.ask_seconds", preset: 0)
    static let page = Setting("login.page", preset: true)
    static let pollDelaySeconds = Setting("login.poll_delay_seconds", preset: 10)
    static let pollSeconds = Setting("login.poll_seconds", preset: 5)
    static let pollLimit = Setting("login.poll_limit", preset: 6)

    let host: Host
    let gateways: GatewayAccounts
    let nearby: Nearby

    init(_ host: Host) {
        self.host = host
        gateways = host.feature(GatewayFeature.self).gateways
        nearby = host.feature(NearbyFeature.self).nearby
        let users = GatewayUsers(gateways: gateways, browserLogIns: BrowserLogIns())
        gateways.added.users = users
        gateways.added.browsers = users
    }

    static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        root.table("login") { table in
            table.choice(
                "flow", &configuration[Self.flow], ["client-credentials", "password"].map { ($0, $0) })
            table.integer("ask_seconds", &configuration[Self.askSeconds], in: 0...3600)
            table.flag("page", &configuration[Self.page])
            table.flag("keep_user_on_error", &configuration[LoginSettings.keepUserOnError])
            table.integer("poll_delay_seconds", &configuration[Self.pollDelaySeconds], in: 0...120)
            table.integer("poll_seconds", &configuration[Self.pollSeconds], in: 1...60)
            table.integer("poll_limit", &configuration[Self.pollLimit], in: 1...120)
        }
    }

    func addRoutes(to router: inout Router) {
        router.addOfAccounts(defaultOnly: ["/v1/login/nearby"]) {
            addUserRoutes(to: &$0)
            addLogInRoutes(to: &$0)
            addBrowserLogInRoutes(to: &$0)
        }
    }

    static var statusMembers: [String: Schema] { ["user": .user] }

    func status() async throws -> [String: JSON] {
        guard let user = try await gateways.link?.session.user() else { return [:] }
        return ["user": user.json(at: host.time.now)]
    }
}

extension AgentConfiguration {
    /// Whose token a call uses that does not say whose.
    var callPrincipal: Principal { self[UsersFeature.flow] == "password" ? .user : .board }

    /// How long people are asked to log in when a call needs a user; `nil` if they are not.
    var logInPatience: Duration? {
        let seconds = self[UsersFeature.askSeconds]
        return seconds > 0 ? .seconds(seconds) : nil
    }

    /// When the gateway is asked whether another device has scanned a code.
    var pollingPlan: PollingPlan {
        PollingPlan(
            first: .seconds(self[UsersFeature.pollDelaySeconds]), interval: .seconds(self[UsersFeature.pollSeconds]),
            limit: self[UsersFeature.pollLimit])
    }
}
