import AgentCore

/// Fails when the settings have faults, or name what this machine lacks.
package struct SettingsCheck: InstallationCheck {
    package static let name = "settings"

    package func run(_ installation: Installation) -> Verdict? {
        let path = installation.settingsPath
        guard let first = installation.settingsFaults.first else {
            return .pass(installation.settings == AgentConfiguration() ? "the defaults" : "\(path) has no faults")
        }
        let others = installation.settingsFaults.count == 1 ? "" : ", and \(installation.settingsFaults.count - 1) more"
        return .fail("\(first)\(others)", remedy: "fix it, and check with: latchkey config check \(path)")
    }
}
