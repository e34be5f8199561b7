import Gateway
import LocalAPI
import Settings

/// Calls of APIs in the name of the board or its user: at the gateways, and at hosts that the settings name or that
/// were added over the local API.
struct CallsFeature: Feature {
    init(_ host: Host) {}

    static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        let (hosts, faults) = HostSecurity.read(from: &root)
        configuration.hosts = hosts
        root.adopt(faults)
    }

    func addRoutes(to router: inout Router, of agent: Agent) {
        router.addOfAccounts {
            agent.addTokenRoutes(to: &$0)
            agent.addCallRoutes(to: &$0)
        }
        agent.addUploadRoute(to: &router)
        agent.addHostRoutes(to: &router)
    }
}
