import AgentCore
import Groundwork
import LocalAPI
import Messaging
import Settings

/// Standing subscriptions: messages that wait on the disk until a program reads them.
package struct InboxFeature: Feature {
    package let host: Host
    package let broker: BoardBroker

    package init(_ host: Host) {
        self.host = host
        broker = host.feature(MessagesFeature.self).broker
    }

    package static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        configuration.inboxes = InboxSettings.read(from: &root)
    }

    package func addRoutes(to router: inout Router) { addInboxRoutes(to: &router) }

    package static var statusMembers: [String: Schema] {
        ["inboxes": .array(of: .inbox, "missing if there are none"), "inboxError": .problem]
    }

    package func status() async throws -> [String: JSON] {
        guard let inboxes = await broker.brokerSession?.inboxes else { return [:] }
        do {
            let statuses = try await inboxes.statuses()
            var members: [String: JSON] = statuses.isEmpty ? [:] : ["inboxes": .array(statuses.map(\.json))]
            members["inboxError"] = inboxes.obstacle.map { .object($0.explanation.members) }
            return members
        } catch {
            return ["inboxError": .object(error.explanation.members)]
        }
    }

    package static var events: [any ReportedEvent.Type] { [InboxEvent.self] }
}
