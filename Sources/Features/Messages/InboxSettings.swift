import AgentCore
import Groundwork
import Messaging
import Settings

/// A standing subscription of the settings: `[[inbox]]`, or part of one of `[[actions]]`.
package struct InboxSettings: Sendable, Equatable {
    /// The most of each kind.
    package static let limit = 32

    package var name = ""
    /// Below the device's own topics unless ``isRaw``.
    package var filter = ""
    package var isRaw = false
    package var qos = 1
    package var limitBytes = 16 << 20
    package var limitMessages = 10_000
    package var maxAgeHours = 24 * 30
    package var retained = false

    /// - Throws: `MessagingError` for a filter that is not valid.
    package func policy(_ topics: TopicNamespace) throws(MessagingError) -> InboxPolicy {
        InboxPolicy(
            name: name, filter: isRaw ? try TopicFilter(filter) : try topics.custom(filter: filter),
            qos: QoS(requested: qos) ?? .atLeastOnce, limitBytes: limitBytes, limitMessages: limitMessages,
            maxAge: .seconds(maxAgeHours * 3600), takesRetained: retained)
    }

    /// Reads the members that inboxes and actions have in common.
    package init(from table: inout SettingsTable) {
        name = table.string("name", required: "write a name, such as \"orders\"") ?? ""
        if !name.isEmpty, AccountName(name) == nil {
            table.note("name", "is not a name", fix: "use lower-case letters, digits and hyphens, at most 32")
        }
        filter = table.string("filter", required: "write a topic filter, such as \"orders/#\"") ?? ""
        if !filter.isEmpty, (try? TopicFilter(filter)) == nil {
            table.note("filter", "is not a topic filter", fix: "write levels with / between them; + and # as in MQTT")
        }
        table.flag("raw", &isRaw)
        table.integer("qos", &qos, in: 0...2)
        table.integer("limit_bytes", &limitBytes, in: 65_536...(1 << 32))
        table.integer("limit_messages", &limitMessages, in: 1...1_000_000)
        table.integer("max_age_hours", &maxAgeHours, in: 1...87_600)
        table.flag("retained", &retained)
    }

    package static func read(from root: inout SettingsTable) -> [InboxSettings] {
        var inboxes: [InboxSettings] = []
        var faults: [SettingsFault] = []
        for var table in root.tables("inbox", atMost: limit) {
            let inbox = InboxSettings(from: &table)
            table.refuseUnknownKeys()
            if inboxes.contains(where: { $0.name == inbox.name }) {
                table.note("name", "\(inbox.name) is used twice", fix: "give each its own name")
            }
            inboxes.append(inbox)
            faults += table.faults
        }
        root.adopt(faults)
        return inboxes
    }
}

extension AgentConfiguration {
    /// Every inbox: those that programs read, and those that actions are fed from.
    package var allInboxes: [InboxSettings] { inboxes + actions.map(\.inbox) }
}

extension AgentConfiguration {
    package var inboxes: [InboxSettings] {
        get { self[TypedList<InboxSettings>.self].all }
        set { self[TypedList<InboxSettings>.self].all = newValue }
    }
}
