import AgentCore
import AgentMessages
import Groundwork
import Settings

/// The table `[home_assistant]`.
package struct HomeAssistantSettings: TypedValue {
    package init() {}

    /// Whether the board announces itself to Home Assistant.
    package var enabled = false
    /// What the topics of Home Assistant's discovery begin with; its own setting has the same name.
    package var discoveryPrefix = "homeassistant"

    static func read(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        root.table("home_assistant") { table in
            table.flag("enabled", &configuration.homeAssistant.enabled)
            table.string("discovery_prefix", &configuration.homeAssistant.discoveryPrefix, .topic)
        }
    }
}

extension AgentConfiguration {
    package var homeAssistant: HomeAssistantSettings {
        get { self[HomeAssistantSettings.self] }
        set { self[HomeAssistantSettings.self] = newValue }
    }
}
