import AgentCore
import AgentGateway
import Directories
import GatewayServices
import Groundwork
import LocalAPI
import Settings
import Vault

/// The table `[storage]`.
struct StorageSettings: TypedValue {
    /// Whether items may be stored in the vault.
    var local = false
}

/// The services of a gateway: users and groups, storage, the devices of a user and enterprise applications.
package struct ServicesFeature: Feature {
    let host: Host
    let gateways: GatewayAccounts
    /// Locked while a group is read and written back whole.
    let groupChange = AsyncMutex()

    package init(_ host: Host) {
        self.host = host
        gateways = host.feature(GatewayFeature.self).gateways
    }

    package static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        root.table("storage") { $0.flag("local", &configuration[StorageSettings.self].local) }
    }

    package func addRoutes(to router: inout Router) {
        router.addOfAccounts { router in
            addUserListRoutes(to: &router)
            addGroupRoutes(to: &router)
            addItemRoutes(to: &router)
            addDeviceRoutes(to: &router)
            addAppRoutes(to: &router)
        }
    }

    package func personalRecords() async throws(VaultError) -> [RecordName] {
        var records: [RecordName] = []
        for scope in try await host.vault.scopes() {
            records += try await host.vault.names(scope: scope).filter(LocalStorage.isPersonal)
        }
        return records
    }

    package static var errors: [any Explained.Type] { [ItemError.self, ServiceError.self, DirectoryError.self] }

    package static var events: [any ReportedEvent.Type] { [ItemEvent.self] }
}

extension ServicesFeature {
    /// The services of the gateway that a request is about.
    ///
    /// - Throws: ``AccountError``, ``AgentError/notEnrolled``
    func services(of request: LocalRequest) async throws -> GatewayServices {
        GatewayServices(session: try await gateways.account(of: request).session, http: host.client)
    }
}

extension LocalRequest {
    /// A query parameter with a fixed set of values.
    func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String, default preset: Choice
    ) throws(AgentError) -> Choice {
        try choice(name, of: .init(uniqueKeysWithValues: Choice.allCases.map { ($0.rawValue, $0) }), default: preset)
    }
}
