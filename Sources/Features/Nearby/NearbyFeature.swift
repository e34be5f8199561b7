import AgentCore
import AgentGateway
import Bluetooth
import Groundwork
import LocalAPI
import Prompts
import Proximity
import Settings

/// Nearby devices: letting them in with the user's session, consent, and the radio.
package struct NearbyFeature: Feature {
    package let host: Host
    package let gateways: GatewayAccounts
    package let nearby: Nearby

    package init(_ host: Host) {
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

    package static func compare(with machine: inout MachineComparison) {
        let name = machine.configuration.bluetooth.adapter
        // The kernel knows an address only after it has queried the adapter.
        guard name.hasPrefix("hci"), case .missing = MachineComparison.look(at: "/sys/class/bluetooth/\(name)") else {
            return
        }
        machine.fail(
            "bluetooth.adapter", "there is no Bluetooth adapter \(name)",
            fix: "plug it in, name another, or leave it empty for the first adapter")
    }

    package static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
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

    package func addRoutes(to router: inout Router) { addProximityRoutes(to: &router) }

    package static var checks: [any HealthCheck] { [BluetoothCheck(), ConsentCheck()] }

    package func examine(into state: inout AgentState) async throws {
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

    package func services() -> [any Service] {
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

    package static var statusMembers: [String: Schema] {
        ["sharing": .boolean("whether the session is offered to devices nearby; missing if it is not")]
    }

    package func status() async throws -> [String: JSON] {
        await nearby.isSharing ? ["sharing": true] : [:]
    }

    package func close() async { await nearby.close() }

    package static var errors: [any Explained.Type] { [BluetoothError.self, ProximityError.self] }

    package static var events: [any ReportedEvent.Type] { [ProximityEvent.self, SharingEvent.self] }
}
