import AgentCore
import Gateway
import Settings

/// The table `[otp]`.
package struct OneTimePasswordSettings: TypedValue {
    /// How long people are asked; 0: not at all.
    package var askSeconds = 0

    package init() {}
}

/// One-time passwords that called APIs demand, also of calls whose programs show no questions.
package struct OneTimePasswordFeature: Feature {
    /// Asks for one-time passwords of calls that do not choose who is asked; `nil` to ask no one.
    package let asker: (any OneTimePasswordAsker)?

    package init(_ host: Host) {
        let seconds = host.settings[OneTimePasswordSettings.self].askSeconds
        asker = seconds > 0 ? OneTimePasswordPrompts(prompts: host.prompts, patience: .seconds(seconds)) : nil
    }

    package static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        root.table("otp") {
            $0.integer("ask_seconds", &configuration[OneTimePasswordSettings.self].askSeconds, in: 0...3600)
        }
    }
}
