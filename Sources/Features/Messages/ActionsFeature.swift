import AgentCore
import Groundwork
import LocalAPI
import Settings

/// Actions: allow-listed commands that messages start. The inboxes of the broker session run them: `Inboxes.swift`.
package struct ActionsFeature: Feature {
    package let host: Host
    package let broker: BoardBroker

    package init(_ host: Host) {
        self.host = host
        broker = host.feature(MessagesFeature.self).broker
    }

    package static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        configuration.actions = ActionSettings.read(from: &root, beside: configuration.inboxes)
    }

    package func addRoutes(to router: inout Router) { addActionRoutes(to: &router) }

    package static var events: [any ReportedEvent.Type] { [ActionEvent.self] }
}
