import AgentCore
import Groundwork
import LocalAPI
import Messaging
import Settings

/// Standing subscriptions: messages that wait on the disk until a program reads them.
struct InboxFeature: Feature {
    let host: Host
    let broker: BoardBroker

    init(_ host: Host) {
        self.host = host
        broker = host.feature(MessagesFeature.self).broker
    }

    static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        configuration.inboxes = InboxSettings.read(from: &root)
    }

    func addRoutes(to router: inout Router) { addInboxRoutes(to: &router) }

    static var statusMembers: [String: Schema] {
        ["inboxes": .array(of: .inbox, "where there are any"), "inboxError": .problem]
    }

    func status() async throws -> [String: JSON] {
        guard let inboxes = await broker.station?.inboxes else { return [:] }
        do {
            let statuses = try await inboxes.statuses()
            var members: [String: JSON] = statuses.isEmpty ? [:] : ["inboxes": .array(statuses.map(\.report))]
            members["inboxError"] = inboxes.obstacle.map { .object($0.explanation.members) }
            return members
        } catch {
            return ["inboxError": .object(error.explanation.members)]
        }
    }

    static var events: [any ReportedEvent.Type] { [InboxEvent.self] }
}
