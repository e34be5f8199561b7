import AgentCore
import Gateway
import Settings

/// One-time passwords that called APIs demand, also of calls whose programs show no questions.
package struct OneTimePasswordFeature: Feature {
    package static let askSeconds = Setting("otp.ask_seconds", preset: 0)

    /// Asks for one-time passwords of calls that do not choose who is asked; `nil` to ask no one.
    package let asker: (any OneTimePasswordAsker)?

    package init(_ host: Host) {
        let seconds = host.settings[Self.askSeconds]
        asker = seconds > 0 ? OneTimePasswordPrompts(prompts: host.prompts, patience: .seconds(seconds)) : nil
    }

    package static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        root.table("otp") { $0.integer("ask_seconds", &configuration[Self.askSeconds], in: 0...3600) }
    }
}
