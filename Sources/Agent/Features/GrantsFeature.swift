import Groundwork
import LocalAPI
import Settings

/// Which local programs may act in the name of the board or its user.
struct GrantsFeature: Feature {
    static let askSeconds = Setting("programs.ask_seconds", preset: 0)

    init(_ host: Host) {}

    static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        let (grants, faults) = GrantSettings.read(from: &root)
        configuration.grants = grants
        root.adopt(faults)
        root.table("programs") { $0.integer("ask_seconds", &configuration[Self.askSeconds], in: 0...3600) }
    }

    func addRoutes(to router: inout Router, of agent: Agent) { agent.addGrantRoutes(to: &router) }

    static var events: [any ReportedEvent.Type] { [GrantEvent.self] }
}

/// The forward proxy: calls of programs that never see a token.
struct ProxyFeature: Feature {
    static let enabled = Setting("proxy.enabled", preset: false)
    static let socket = Setting("proxy.socket", preset: "/run/latchkey/proxy.sock")
    static let group = Setting("proxy.group", preset: "")

    init(_ host: Host) {}

    static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        root.table("proxy") { table in
            table.flag("enabled", &configuration[Self.enabled])
            table.string("socket", &configuration[Self.socket], .absolutePath)
            table.string("group", &configuration[Self.group], .any)
        }
    }
}
