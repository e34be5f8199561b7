import AgentCore
import AgentGateway
import AgentNearby
import Gateway
import Groundwork
import LocalAPI
import Settings
import Vault

/// The lock of users' sessions: by passcode, with or without a press of the board's button.
package struct LockFeature: Feature {
    let host: Host
    let gateways: GatewayAccounts
    let nearby: Nearby

    package static var errors: [any Explained.Type] { [SessionLockError.self] }

    package init(_ host: Host) {
        self.host = host
        gateways = host.feature(GatewayFeature.self).gateways
        nearby = host.feature(NearbyFeature.self).nearby
    }

    package static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        root.table("lock") { table in
            table.flag("needs_button", &configuration[LockSettings.self].needsButton)
            table.integer("attempts", &configuration[LockSettings.self].attempts, in: 1...100)
            table.integer("delay_seconds", &configuration[LockSettings.self].delaySeconds, in: 0...900)
        }
    }

    package func addRoutes(to router: inout Router) {
        router.addOfAccounts { addLockRoutes(to: &$0) }
    }

    package static var checks: [any HealthCheck] { [SessionLockCheck()] }

    package func examine(into state: inout AgentState) async throws {
        let lacksButton = host.settings[LockSettings.self].needsButton && host.board.button == nil
        var names: [JSON] = []
        var isLeftOver = false
        for account in await gateways.table.all {
            guard let lock = try await account.session.lockStatus() else { continue }
            names.append(.string(lock.userName ?? "a user"))
            isLeftOver = isLeftOver || lock.hasLeftOverToken
        }
        state.found["locks"] = [
            "users": .array(names), "leftOver": .bool(isLeftOver), "lacksButton": .bool(lacksButton),
        ]
    }

    package func services() -> [any Service] {
        let events = host.events.subscribe(bound: 16)
        return [host.restarting("session locks") { await self.revokeLeftOverTokens(after: events) }]
    }

    package static var statusMembers: [String: Schema] { ["user": .user] }

    package func status() async throws -> [String: JSON] {
        guard let lock = try await gateways.link?.session.lockStatus() else { return [:] }
        return ["user": lock.json(host.settings.unlockPolicy)]
    }
}
