import LocalAPI
import Settings

/// Connections to brokers beside the gateway's, which the settings name.
struct BrokersFeature: Feature {
    init(_ host: Host) {}

    static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        let (brokers, faults) = NamedBrokerSettings.read(from: &root)
        configuration.brokers = brokers
        root.adopt(faults)
    }

    func addRoutes(to router: inout Router, of agent: Agent) { agent.addBrokerRoutes(to: &router) }
}
