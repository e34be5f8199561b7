import AgentCore
import Groundwork
import LocalAPI
import Settings

/// The forward proxy: calls of programs that never see a token.
struct ProxyFeature: Feature {
    static let enabled = Setting("proxy.enabled", preset: false)
    static let socket = Setting("proxy.socket", preset: "/run/latchkey/proxy.sock")
    static let group = Setting("proxy.group", preset: "")

    let host: Host
    let gateways: GatewayAccounts
    let authorizer: CallAuthorizer

    static var errors: [any Explained.Type] { [ProxyError.self] }

    init(_ host: Host) {
        self.host = host
        gateways = host.feature(GatewayFeature.self).gateways
        authorizer = host.feature(GrantsFeature.self).authorizer
    }

    static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        root.table("proxy") { table in
            table.flag("enabled", &configuration[Self.enabled])
            table.string("socket", &configuration[Self.socket], .absolutePath)
            table.string("group", &configuration[Self.group], .any)
        }
    }
}
