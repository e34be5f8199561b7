import Board
import Cryptography
import FoundationEssentials
import Gateway
import Groundwork
import HTTPClient
import LocalAPI
import Logging
import Messaging
import Prompts
import Proximity
import Synchronization
import Vault

/// The agent: what its services share and the local API uses.
public final actor Agent {
    nonisolated let host: Host
    nonisolated let gateways: Gateways
    nonisolated let board: BoardParts
    nonisolated let network = NetworkWatch()
    nonisolated let nearby: Nearby
    nonisolated let browserLogIns = BrowserLogIns()
    nonisolated let hosts: HostList
    nonisolated let uploads = UploadDesk()
    /// The brokers of the settings; not connected until somebody uses them.
    nonisolated let brokers: [NamedBroker]
    nonisolated let location: LocationFinder
    nonisolated let grants = GrantBook()
    nonisolated let grantLog: GrantLog
    nonisolated let firstBoot = FirstBootState()
    nonisolated let logger: Logger
    nonisolated let started = ContinuousClock.now
    nonisolated let features: [any Feature]
    private nonisolated let standby = Mutex<VaultError?>(nil)

    /// The default account and all others.
    var accounts = AccountTable()
    /// Why the default document could not be taken at the start.
    var defaultDocumentFault: Explanation?
    /// Telemetry messages that no account could take.
    var unsentTelemetry = 0
    /// The account whose registration is used at the board's broker.
    nonisolated let brokerAccount: AccountName

    init(
        configuration: AgentConfiguration, vault: Vault, client: HTTPClient, gateways: Gateways, time: BestKnownTime,
        board: BoardParts, logger: Logger, features: [any Feature.Type] = Features.all
    ) {
        let host = Host(settings: configuration, vault: vault, client: client, time: time, logger: logger)
        self.host = host
        self.gateways = gateways
        self.board = board
        self.logger = logger
        self.features = features.map { $0.init(host) }
        hosts = HostList(configuration.hosts)
        location = LocationFinder(configuration)
        grantLog = GrantLog(directory: configuration.stateDirectory)
        brokerAccount = AccountName(configuration.broker.account) ?? .gateway
        brokers = configuration.brokers.map { [network] settings in
            NamedBroker(settings, policy: OutboxPolicy(configuration.outbox), network: network) { event in
                host.report(event, over: .named(settings.name))
            }
        }
        nearby = Nearby(
            configuration, deviceName: configuration.gateway.shownDeviceName, prompts: host.prompts
        ) { error in
            host.report(SharingEvent.auditFailed(error))
        }
        host.install { [unowned self] left in
            var router = Router()
            for feature in self.features where type(of: feature) != left { feature.addRoutes(to: &router, of: self) }
            return router
        }
        host.accounts.install(self.features.flatMap(\.accountKinds) + [GatewayKind(agent: self)]) { [unowned self] in
            try await endingGrants(at: $0) { try await vault.commit($0) }
        }
    }

    nonisolated var configuration: AgentConfiguration { host.settings }
    nonisolated var vault: Vault { host.vault }
    nonisolated var client: HTTPClient { host.client }
    nonisolated var time: BestKnownTime { host.time }
    nonisolated var prompts: PromptDesk { host.prompts }

    /// Why the last attempt to open the vault failed; `nil` unless the agent is in standby.
    nonisolated var vaultFault: VaultError? {
        get { standby.withLock { $0 } }
        set { standby.withLock { $0 = newValue } }
    }

    // MARK: Events

    nonisolated var events: Broadcast<AgentEvent> { host.events }

    nonisolated func report(_ event: AgentEvent) { host.report(event) }

    nonisolated func report(
        _ event: any ReportedEvent, of account: AccountName = .gateway, over connection: AgentEvent.Connection = .board,
        ends: Set<Trouble> = []
    ) {
        host.report(event, of: account, over: connection, ends: ends)
    }

    nonisolated var lastTrouble: AgentEvent? { host.lastTrouble }

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
