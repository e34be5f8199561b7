import Groundwork
import LocalAPI
import Messaging
import Settings

/// Standing subscriptions: messages that wait on the disk until a program reads them.
struct InboxFeature: Feature {
    init(_ host: Host) {}

    static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        configuration.inboxes = InboxSettings.read(from: &root)
    }

    func addRoutes(to router: inout Router, of agent: Agent) { agent.addInboxRoutes(to: &router) }

    static var statusMembers: [String: Schema] {
        ["inboxes": .array(of: .inbox, "where there are any"), "inboxError": .problem]
    }

    func status(of agent: Agent) async throws -> [String: JSON] {
        guard let inboxes = await agent.brokerLink?.station?.inboxes else { return [:] }
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
