import AgentCore
import Bluetooth
import Groundwork
import LocalAPI
import Prompts
import Proximity
import Settings

/// Nearby devices: letting them in with the user's session, consent, and the radio.
struct NearbyFeature: Feature {
    let host: Host
    let gateways: GatewayAccounts
    let nearby: Nearby

    init(_ host: Host) {
        self.host = host
        gateways = host.feature(GatewayFeature.self).gateways
        nearby = Nearby(
            host.settings, deviceName: host.deviceName, prompts: host.prompts
        ) { error in
            host.report(SharingEvent.auditFailed(error))
        }
        gateways.added.beforeDisconnecting = { [nearby] name in
            if name == .gateway { await nearby.stopSharing(by: .agent) }
        }
    }

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

    func addRoutes(to router: inout Router) { addProximityRoutes(to: &router) }

    static var checks: [any HealthCheck] { [BluetoothCheck(), ConsentCheck()] }

    func examine(into state: inout AgentState) async throws {
        let settings = host.settings.proximity
        state.nearby.sharing = settings.share
        state.nearby.requiresEncryption = settings.requireEncryption
        state.nearby.takesKeyboards = BluetoothDaemonSettings.read().takesKeyboards
        state.nearby.hasButton = host.board.button != nil
        state.nearby.buttonFault = await nearby.desk.buttonFault
        let adapter = await nearby.adapter()
        // A missing adapter is not a fault unless the settings ask for Bluetooth.
        if adapter.fault == nil || settings.share != .never || adapter.adapter != nil { state.nearby.adapter = adapter }
    }

    func services() -> [any Service] {
        let near = nearby.events.subscribe()
        var services = [
            host.restarting("proximity events") { await self.reportProximityEvents(near) },
            host.restarting("sharing") { await self.keepSharing() },
        ]
        if host.board.led != nil {
            let lit = nearby.events.subscribe()
            services.append(host.restarting("consent light") { await self.showConsent(after: lit) })
        }
        if let button = host.board.button {
            services.append(
                host.restarting("button") { try await ButtonService(button: button, feature: self).run() })
        }
        return services
    }

    static var statusMembers: [String: Schema] {
        ["sharing": .boolean("whether the session is offered to devices nearby; missing where it is not")]
    }

    func status() async throws -> [String: JSON] {
        await nearby.isSharing ? ["sharing": true] : [:]
    }

    func close() async { await nearby.close() }

    static var errors: [any Explained.Type] { [BluetoothError.self, ProximityError.self] }

    static var events: [any ReportedEvent.Type] { [ProximityEvent.self, SharingEvent.self] }
}
