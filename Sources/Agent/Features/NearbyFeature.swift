import Bluetooth
import Groundwork
import LocalAPI
import Proximity
import Settings

/// Nearby devices: letting them in with the user's session, consent, and the radio.
struct NearbyFeature: Feature {
    init(_ host: Host) {}

    static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        root.table("bluetooth") { table in
            table.choice(
                "transport", &configuration.bluetooth.transport,
                BluetoothChoice.Preference.allCases.map { ($0.rawValue, $0) })
            table.string("adapter", &configuration.bluetooth.adapter, .any)
            table.flag("private", &configuration.bluetooth.isPrivate)
        }
        root.table("proximity") { table in
            table.choice(
                "share", &configuration.proximity.share, ProximitySettings.Share.allCases.map { ($0.rawValue, $0) })
            table.integer("share_minutes", &configuration.proximity.shareMinutes, in: 1...1440)
            table.integer("consent_seconds", &configuration.proximity.consentSeconds, in: 5...110)
            table.integer("requests_per_minute", &configuration.proximity.requestsPerMinute, in: 1...60)
            table.integer("least_signal", &configuration.proximity.leastSignal, in: -127...0)
            table.flag("require_encryption", &configuration.proximity.requireEncryption)
        }
    }

    func addRoutes(to router: inout Router, of agent: Agent) { agent.addProximityRoutes(to: &router) }

    static var checks: [any HealthCheck] { [BluetoothCheck(), ConsentCheck()] }

    func examine(_ agent: Agent, into state: inout AgentState) async throws {
        let settings = agent.configuration.proximity
        state.sharing = settings.share
        state.requiresEncryption = settings.requireEncryption
        state.takesKeyboards = BluetoothDaemonSettings.read().takesKeyboards
        state.hasButton = agent.board.button != nil
        state.buttonFault = await agent.nearby.desk.buttonFault
        let adapter = await agent.nearby.adapter()
        // A missing adapter is not a fault unless the settings ask for Bluetooth.
        if adapter.fault == nil || settings.share != .never || adapter.adapter != nil { state.adapter = adapter }
    }

    func services(of agent: Agent) -> [any Service] {
        let near = agent.nearby.events.subscribe()
        return [
            agent.restarting("proximity events") { await agent.reportProximityEvents(near) },
            agent.restarting("sharing") { await agent.keepSharing() },
        ]
    }

    static var statusMembers: [String: Schema] {
        ["sharing": .boolean("whether the session is offered to devices nearby; missing where it is not")]
    }

    func status(of agent: Agent) async throws -> [String: JSON] {
        await agent.nearby.isSharing ? ["sharing": true] : [:]
    }

    static var events: [any ReportedEvent.Type] { [ProximityEvent.self, SharingEvent.self] }
}
