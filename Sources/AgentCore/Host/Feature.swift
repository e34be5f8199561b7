import Groundwork
import LocalAPI
import Settings
import Vault

/// A capability of the agent with everything that belongs to it: routes, health checks, services, settings, members of
/// the status, events and kinds of accounts.
///
/// A feature contains its own state, and is made with all that it may know of the agent. The agent has a list of
/// features (``Features``), from which it builds the local API, the doctor, the status report, the services and the
/// routes that are closed in standby. A feature implements only the members below that it needs.
package protocol Feature: Sendable {
    /// Whether the feature needs the vault. While the vault cannot be opened, its routes answer with the reason, and
    /// its checks, services and status are not used.
    static var needsVault: Bool { get }

    /// Reads its tables of the settings file. The table records any faults.
    static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration)

    /// Places its sockets, unless the settings do, in the directory that systemd made for this service.
    static func placeSockets(in directory: String, of configuration: inout AgentConfiguration)

    /// The hosts that its settings name.
    static func hosts(in configuration: AgentConfiguration) -> [String]

    /// Finds what its settings name and this machine lacks.
    static func compare(with machine: inout MachineComparison)

    /// Whether its routes begin sessions with all rights of their user, which other doors than the local socket must
    /// not.
    static var opensSessions: Bool { get }

    /// Its health checks, in the order in which a person would fix failures.
    static var checks: [any HealthCheck] { get }

    /// The schemas of its members in the status.
    static var statusMembers: [String: Schema] { get }

    /// Its members of the status while the vault cannot be opened.
    static var statusInStandby: [String: JSON] { get }

    /// The schemas of what the accounts of its kinds report of themselves.
    static var accountMembers: [String: Schema] { get }

    /// What a copy of the vault has of its records.
    static var recordRules: RecordRules { get }

    /// The types of its errors, and of those of the rooms that it uses.
    static var errors: [any Explained.Type] { get }

    /// The codes of standards that its servers answer with.
    static var codes: [CatalogueEntry] { get }

    /// The system libraries that it uses, which the distribution keeps up to date, with their versions.
    static var libraries: [(name: String, version: String)] { get }

    /// The types of its events.
    static var events: [any ReportedEvent.Type] { get }

    /// Its part of the console's page.
    static var consoleSection: ConsoleSection? { get }

    init(_ host: Host)

    /// The kinds of accounts that it provides.
    var accountKinds: [any AccountKind] { get }

    /// Checks and takes what its settings name on this machine.
    ///
    /// - Throws: what keeps the agent from starting.
    func prepare() throws

    /// Goes on with what is stored, once the vault is open: one feature after the other, in the order of the list.
    func resume() async

    /// Adds its routes of the local API.
    func addRoutes(to router: inout Router)

    /// Gathers what its checks judge.
    func examine(into state: inout AgentState) async throws

    /// Its work for as long as the agent runs. A service that subscribes before it runs misses no event.
    func services() -> [any Service]

    /// Forgets what it has of persons while the vault's passcode is locked, and reads it again once it is not, or what is
    /// behind it was erased.
    func passcodeDidChange() async

    /// The records of persons, which go behind the vault's passcode.
    func personalRecords() async throws(VaultError) -> [RecordName]

    /// Ends what it has open when the agent ends.
    func close() async

    /// Its members of the status. If two features have the same member, the later one in the list wins.
    func status() async throws -> [String: JSON]

    /// What a person should change, though everything works.
    func warnings() async throws -> [String]
}

extension Feature {
    package static var needsVault: Bool { true }
    package static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {}
    package static func placeSockets(in directory: String, of configuration: inout AgentConfiguration) {}
    package static func compare(with machine: inout MachineComparison) {}
    package static func hosts(in configuration: AgentConfiguration) -> [String] { [] }
    package static var opensSessions: Bool { false }
    package static var checks: [any HealthCheck] { [] }
    package static var statusMembers: [String: Schema] { [:] }
    package static var statusInStandby: [String: JSON] { [:] }
    package static var accountMembers: [String: Schema] { [:] }
    package static var recordRules: RecordRules { RecordRules() }
    package static var errors: [any Explained.Type] { [] }
    package static var codes: [CatalogueEntry] { [] }
    package static var libraries: [(name: String, version: String)] { [] }
    package static var events: [any ReportedEvent.Type] { [] }
    package static var consoleSection: ConsoleSection? { nil }
    package var accountKinds: [any AccountKind] { [] }
    package func prepare() throws {}
    package func resume() async {}
    package func addRoutes(to router: inout Router) {}
    package func examine(into state: inout AgentState) async throws {}
    package func services() -> [any Service] { [] }
    package func passcodeDidChange() async {}
    package func personalRecords() async throws(VaultError) -> [RecordName] { [] }
    package func close() async {}
    package func status() async throws -> [String: JSON] { [:] }
    package func warnings() async throws -> [String] { [] }
}

/// A feature's part of the console's page.
package struct ConsoleSection: Sendable {
    /// A `section`, hidden until its script shows it.
    package let html: [UInt8]
    /// Functions, and calls of `addAccountView(kind, show)`: `show` is given the accounts of the kind.
    package let script: [UInt8]

    package init(html: [UInt8], script: [UInt8]) {
        self.html = html
        self.script = script
    }
}
