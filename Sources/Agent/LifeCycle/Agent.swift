import Board
import Cryptography
import FoundationEssentials
import Gateway
import Groundwork
import HTTPClient
import LocalAPI
import Logging
import Messaging
import OAuthAccounts
import Prompts
import Proximity
import Synchronization
import Vault

/// The agent: what its services share and the local API uses.
public final actor Agent {
    nonisolated let configuration: AgentConfiguration
    nonisolated let vault: Vault
    nonisolated let client: HTTPClient
    nonisolated let gateways: Gateways
    nonisolated let oauthAccounts: OAuthAccounts
    nonisolated let mpinAccounts: MPinAccounts
    nonisolated let time: BestKnownTime
    nonisolated let board: BoardParts
    nonisolated let network = NetworkWatch()
    nonisolated let prompts = PromptDesk()
    nonisolated let nearby: Nearby
    nonisolated let browserLogIns = BrowserLogIns()
    nonisolated let console: ConsoleServer
    nonisolated let hosts: HostList
    nonisolated let uploads = UploadDesk()
    /// The brokers of the settings; not connected until somebody uses them.
    nonisolated let brokers: [NamedBroker]
    nonisolated let location: LocationFinder
    nonisolated let grants = GrantBook()
    nonisolated let grantLog: GrantLog
    nonisolated let firstBoot = FirstBootState()
    private nonisolated let reporter: EventReporter
    nonisolated let logger: Logger
    nonisolated let started = ContinuousClock.now
    nonisolated let features: [any Feature]
    private nonisolated let standby = Mutex<VaultError?>(nil)

    /// The default account and all others.
    var accounts = AccountTable()
    /// The account that commands mean where they name none.
    var currentAccount = AccountName.gateway
    nonisolated let accountChange = AsyncMutex()
    /// Why the default document could not be taken at the start.
    var defaultDocumentFault: Explanation?
    /// Telemetry messages that no account could take.
    var unsentTelemetry = 0
    /// The account whose registration is used at the board's broker.
    nonisolated let brokerAccount: AccountName

    init(
        configuration: AgentConfiguration, vault: Vault, client: HTTPClient, gateways: Gateways, time: BestKnownTime,
        board: BoardParts, logger: Logger, features: [any Feature] = Features.all
    ) {
        self.configuration = configuration
        self.vault = vault
        self.client = client
        self.gateways = gateways
        let reporter = EventReporter(logger)
        self.reporter = reporter
        oauthAccounts = OAuthAccounts(vault: vault, client: client) {
            time.now
        } onLogInNeeded: { name, error in
            guard let name = AccountName(name) else { return }
            reporter.report(AgentEvent(OAuthEvent.logInNeeded(error), of: name, at: time.now))
        }
        mpinAccounts = MPinAccounts(vault: vault, client: client) { time.now }
        self.time = time
        self.board = board
        self.logger = logger
        self.features = features
        console = ConsoleServer(
            port: UInt16(configuration[ConsoleFeature.port]),
            idle: .seconds(60 * configuration[ConsoleFeature.idleMinutes]))
        hosts = HostList(configuration.hosts)
        location = LocationFinder(configuration)
        grantLog = GrantLog(directory: configuration.stateDirectory)
        brokerAccount = AccountName(configuration.broker.account) ?? .gateway
        brokers = configuration.brokers.map { [network] settings in
            NamedBroker(settings, policy: OutboxPolicy(configuration.outbox), network: network) { event in
                reporter.report(AgentEvent(event, over: .named(settings.name), at: time.now))
            }
        }
        nearby = Nearby(configuration, deviceName: configuration.gateway.shownDeviceName, prompts: prompts) { error in
            reporter.report(AgentEvent(SharingEvent.auditFailed(error), at: time.now))
        }
    }

    /// Why the last attempt to open the vault failed; `nil` unless the agent is in standby.
    nonisolated var vaultFault: VaultError? {
        get { standby.withLock { $0 } }
        set { standby.withLock { $0 = newValue } }
    }

    // MARK: Events

    nonisolated var events: Broadcast<AgentEvent> { reporter.events }

    /// Reports an event to subscribers and the log.
    nonisolated func report(_ event: AgentEvent) { reporter.report(event) }

    /// Reports an event that happens now.
    ///
    /// - Parameters:
    ///   - account: the account of the event; the default one for those of none.
    ///   - ends: troubles of other rooms that it ends, beside those of its own.
    nonisolated func report(
        _ event: any ReportedEvent, of account: AccountName = .gateway, over connection: AgentEvent.Connection = .board,
        ends: Set<Trouble> = []
    ) {
        report(AgentEvent(event, of: account, over: connection, ends: ends, at: time.now))
    }

    /// The newest event that needs a person's attention, until another one ends it or a day has passed.
    nonisolated var lastTrouble: AgentEvent? { reporter.newestTrouble(at: time.now) }

    // MARK: At the gateway

    /// - Throws: ``AgentError/notEnrolled``
    func activeLink() throws(AgentError) -> Link {
        guard let link else { throw .notEnrolled }
        return link
    }

    /// The station at the board's broker.
    ///
    /// - Throws: ``AgentError/notEnrolled``, ``AccountError/unknown(_:)``, `GatewayError.notRegistered`,
    ///   `GatewayError.awaitingActivation`, `CancellationError`, or why the outbox of a registered board cannot be
    ///   opened.
    func activeStation() async throws -> Station {
        let link = try account(brokerAccount).link
        if let station = try await link.settledStation() { return station }
        if let fault = await link.outboxFault { throw fault }
        let status = try await link.session.status()
        throw status.registration == .pending
            ? status.magIdentifier.map(GatewayError.awaitingActivation) ?? .notRegistered
            : .notRegistered
    }

    /// The name that people call this board by.
    nonisolated var deviceName: String { configuration.gateway.shownDeviceName }

    nonisolated var deviceDescription: DeviceDescription {
        DeviceDescription(name: deviceName, model: board.model ?? board.definition.title)
    }
}
