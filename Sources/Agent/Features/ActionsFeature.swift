import AgentCore
import Groundwork
import LocalAPI
import Settings

/// Actions: allow-listed commands that messages start. What does the work is with the station: `Agent/Broker/Inboxes`.
struct ActionsFeature: Feature {
    let host: Host
    let broker: BoardBroker

    init(_ host: Host) {
        self.host = host
        broker = host.feature(MessagesFeature.self).broker
    }

    static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        configuration.actions = ActionSettings.read(from: &root, beside: configuration.inboxes)
    }

    func addRoutes(to router: inout Router) { addActionRoutes(to: &router) }

    static var events: [any ReportedEvent.Type] { [ActionEvent.self] }
}
