import AgentCore
import Groundwork
import Settings

/// A command that each message of a filter starts: one of `[[actions]]`. Only the settings can have one.
package struct ActionSettings: Sendable, Equatable {
    package static let limit = 8

    /// Named like the action.
    package var inbox: InboxSettings
    /// An absolute path and fixed arguments; nothing of a message is ever among them.
    package var command: [String] = []
    /// The path of the socket behind which systemd starts the runner.
    package var socket = "/run/latchkey-actions.sock"
    package var timeoutSeconds = 60
    /// The last bytes of standard output and standard error that are kept.
    package var outputLimit = 4096
    /// How often a message whose command failed is given to it again.
    package var retries = 3
    /// Whether the command may run as root.
    package var allowsRoot = false

    package var name: String { inbox.name }

    /// - Parameter others: the inboxes, whose names are taken.
    package static func read(from root: inout SettingsTable, beside others: [InboxSettings]) -> [ActionSettings] {
        var actions: [ActionSettings] = []
        var faults: [SettingsFault] = []
        for var table in root.tables("actions", atMost: limit) {
            var action = ActionSettings(inbox: InboxSettings(from: &table))
            action.command = table.strings("command", required: "write an absolute path and its arguments") ?? []
            if let path = action.command.first, !path.hasPrefix("/") || path.utf8.contains(0) {
                table.note("command", "is not an absolute path", fix: "start it with /")
            }
            table.string("socket", &action.socket, .absolutePath)
            table.integer("timeout_seconds", &action.timeoutSeconds, in: 1...3600)
            table.integer("output_limit", &action.outputLimit, in: 0...65_536)
            table.integer("retries", &action.retries, in: 0...100)
            table.flag("allow_root", &action.allowsRoot)
            table.refuseUnknownKeys()
            if (others + actions.map(\.inbox)).contains(where: { $0.name == action.name }) {
                table.note("name", "\(action.name) is used twice", fix: "give each action and inbox its own name")
            }
            actions.append(action)
            faults += table.faults
        }
        root.adopt(faults)
        return actions
    }
}

extension AgentConfiguration {
    package var actions: [ActionSettings] {
        get { self[TypedList<ActionSettings>.self].all }
        set { self[TypedList<ActionSettings>.self].all = newValue }
    }
}
