import GatewayServices
import Groundwork
import LocalAPI
import Settings

/// The services of a gateway: users and groups, storage, the devices of a user and enterprise applications.
struct ServicesFeature: Feature {
    /// Whether items may be stored in the vault.
    static let localStorage = Setting("storage.local", preset: false)
    /// Locked while a group is read and written back whole.
    private let groupChange = AsyncMutex()

    init(_ host: Host) {}

    static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        root.table("storage") { $0.flag("local", &configuration[Self.localStorage]) }
    }

    func addRoutes(to router: inout Router, of agent: Agent) {
        router.addOfAccounts { router in
            agent.addUserListRoutes(to: &router)
            agent.addGroupRoutes(to: &router, changingUnder: groupChange)
            agent.addItemRoutes(to: &router)
            agent.addDeviceRoutes(to: &router)
            agent.addAppRoutes(to: &router)
        }
    }

    static var events: [any ReportedEvent.Type] { [ItemEvent.self] }
}

extension Agent {
    /// The services of the gateway that a request is about.
    ///
    /// - Throws: ``AccountError``, ``AgentError/notEnrolled``
    func services(of request: LocalRequest) async throws -> GatewayServices {
        GatewayServices(session: try await account(of: request).session, http: client)
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
