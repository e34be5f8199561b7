import Gateway
import Settings

/// One-time passwords that called APIs demand, also of calls whose programs show no questions.
struct OneTimePasswordFeature: Feature {
    static let askSeconds = Setting("otp.ask_seconds", preset: 0)

    init(_ host: Host) {}

    static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        root.table("otp") { $0.integer("ask_seconds", &configuration[Self.askSeconds], in: 0...3600) }
    }
}

extension Agent {
    /// Whoever is asked for calls that say nothing of it; `nil` if nobody is.
    nonisolated var passwordAsker: (any OneTimePasswordAsker)? {
        let seconds = configuration[OneTimePasswordFeature.askSeconds]
        guard seconds > 0 else { return nil }
        return OneTimePasswordPrompts(prompts: prompts, patience: .seconds(seconds))
    }
}
