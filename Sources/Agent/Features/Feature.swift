import Groundwork
import LocalAPI
import Settings

/// A capability of the agent with everything that belongs to it: routes, health checks, services, settings, members of
/// the status and events.
///
/// A feature is a value. It contains its own state; what it needs from the agent is passed to it. The agent has a list
/// of features (``Features``), from which it builds the local API, the doctor, the status report, the services and the
/// routes that are closed in standby. A feature implements only the members below that it needs.
protocol Feature: Sendable {
    /// Whether the feature needs the vault. While the vault cannot be opened, its routes answer with the reason, and
    /// its checks, services and status are not used.
    var needsVault: Bool { get }

    /// Reads its tables of the settings file. The table records any faults.
    func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration)

    /// Adds its routes of the local API.
    func addRoutes(to router: inout Router, of agent: Agent)

    /// Its health checks, in the order in which a person would fix failures.
    var checks: [any HealthCheck] { get }

    /// Gathers what its checks judge.
    func examine(_ agent: Agent, into state: inout AgentState) async throws

    /// Its work for as long as the agent runs. A service that subscribes before it runs misses no event.
    func services(of agent: Agent) -> [any Service]

    /// The schemas of its members in the status.
    var statusMembers: [String: Schema] { get }

    /// Its members of the status. If two features have the same member, the later one in the list wins.
    func status(of agent: Agent) async throws -> [String: JSON]

    /// What a person should change, though everything works.
    func warnings(of agent: Agent) async throws -> [String]

    /// The types of its events.
    var events: [any ReportedEvent.Type] { get }
}

extension Feature {
    var needsVault: Bool { true }
    func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {}
    func addRoutes(to router: inout Router, of agent: Agent) {}
    var checks: [any HealthCheck] { [] }
    func examine(_ agent: Agent, into state: inout AgentState) async throws {}
    func services(of agent: Agent) -> [any Service] { [] }
    var statusMembers: [String: Schema] { [:] }
    func status(of agent: Agent) async throws -> [String: JSON] { [:] }
    func warnings(of agent: Agent) async throws -> [String] { [] }
    var events: [any ReportedEvent.Type] { [] }
}
