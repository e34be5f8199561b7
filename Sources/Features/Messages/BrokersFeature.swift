import AgentCore
import Groundwork
import LocalAPI
import Messaging
import Settings

/// Connections to brokers beside the gateway's, which the settings name.
package struct BrokersFeature: Feature {
    package let host: Host
    /// Not connected until a program uses them.
    package let all: [NamedBroker]

    package static var errors: [any Explained.Type] { [BrokerError.self] }

    package init(_ host: Host) {
        self.host = host
        all = host.settings.brokers.map { [host] settings in
            NamedBroker(settings, policy: OutboxPolicy(host.settings.outbox), network: host.network) { event in
                host.report(event, over: .named(settings.name))
            }
        }
    }

    package static func hosts(in configuration: AgentConfiguration) -> [String] {
        configuration.brokers.map(\.address.host)
    }

    package static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        let (brokers, faults) = NamedBrokerSettings.read(from: &root)
        configuration.brokers = brokers
        root.adopt(faults)
    }

    package func close() async { for broker in all { _ = await broker.disconnect() } }

    package func addRoutes(to router: inout Router) { addBrokerRoutes(to: &router) }
}
