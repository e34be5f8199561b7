import AgentCore
import Groundwork
import LocalAPI
import Settings

/// Which local programs may act in the name of the board or its user.
struct GrantsFeature: Feature {
    static let askSeconds = Setting("programs.ask_seconds", preset: 0)

    let host: Host
    let authorizer: CallAuthorizer

    init(_ host: Host) {
        self.host = host
        authorizer = CallAuthorizer(host)
        host.accounts.install(authorizer)
    }

    static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        let (grants, faults) = GrantSettings.read(from: &root)
        configuration.grants = grants
        root.adopt(faults)
        root.table("programs") { $0.integer("ask_seconds", &configuration[Self.askSeconds], in: 0...3600) }
    }

    func prepare() throws { try authorizer.setGrants() }

    func resume() async { await authorizer.load() }

    func addRoutes(to router: inout Router) { addGrantRoutes(to: &router) }

    static var errors: [any Explained.Type] { [GrantError.self] }

    static var events: [any ReportedEvent.Type] { [GrantEvent.self] }
}
