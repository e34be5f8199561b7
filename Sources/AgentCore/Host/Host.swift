import FoundationEssentials
import Groundwork
import HTTPClient
import LocalAPI
import Logging
import Prompts
import Synchronization
import Vault

/// All that a feature may know of the agent.
package final class Host: Sendable {
    package let settings: AgentConfiguration
    package let vault: Vault
    package let hardware: KeyHardware
    package let client: HTTPClient
    /// By which certificates are judged.
    package let time: BestKnownTime
    package let board: BoardParts
    package let network = NetworkWatch()
    package let prompts = PromptDesk()
    package let lights = Lights()
    package let accounts: AccountRegistry
    package let started = ContinuousClock.now
    private let reporter: EventReporter
    private let made = Mutex<[any Feature]>([])
    private let standby = Mutex<VaultError?>(nil)

    package init(
        settings: AgentConfiguration, vault: Vault, hardware: KeyHardware, client: HTTPClient, time: BestKnownTime,
        board: BoardParts,
        logger: Logger
    ) {
        self.settings = settings
        self.vault = vault
        self.hardware = hardware
        self.client = client
        self.time = time
        self.board = board
        accounts = AccountRegistry(vault: vault)
        reporter = EventReporter(logger)
    }

    /// Why the last attempt to open the vault failed; `nil` unless the agent is in standby.
    package var vaultFault: VaultError? {
        get { standby.withLock { $0 } }
        set { standby.withLock { $0 = newValue } }
    }

    /// The name that people call this board by.
    package var deviceName: String { settings.shownDeviceName }

    // MARK: Features

    /// The features that were made: in the order of the list once all are. They refer to this host, and exist as long.
    package var features: [any Feature] { made.withLock { $0 } }

    /// What their schemas, settings and checks are read from.
    package var featureTypes: [any Feature.Type] { features.map { type(of: $0) } }

    /// A feature, which is made if it is not there yet: one that uses others asks for them when it is made itself.
    package func feature<Wanted: Feature>(_ type: Wanted.Type) -> Wanted {
        if let feature = features.lazy.compactMap({ $0 as? Wanted }).first { return feature }
        let feature = Wanted(self)
        made.withLock { $0.append(feature) }
        return feature
    }

    /// Makes features, and orders them as in the list.
    package func make(_ types: [any Feature.Type]) {
        let features = types.map { feature($0) as any Feature }
        made.withLock { $0 = features }
        accounts.install(features.flatMap(\.accountKinds))
    }

    // MARK: Events

    package var events: Broadcast<AgentEvent> { reporter.events }

    /// Reports an event to subscribers and the log.
    package func report(_ event: AgentEvent) { reporter.report(event) }

    /// Reports an event that happens now.
    ///
    /// - Parameters:
    ///   - account: the account of the event; the default one for those of none.
    ///   - ends: troubles of other rooms that it ends, beside those of its own.
    package func report(
        _ event: any ReportedEvent, of account: AccountName = .gateway, over connection: AgentEvent.Connection = .board,
        ends: Set<Trouble> = []
    ) {
        report(AgentEvent(event, of: account, over: connection, ends: ends, at: time.now))
    }

    /// The newest event that needs a person's attention, until another one ends it or a day has passed.
    package var lastTrouble: AgentEvent? { reporter.newestTrouble(at: time.now) }

    // MARK: Services

    /// A service that is started again after a failure, which is reported.
    package func restarting(_ name: String, _ body: @escaping @Sendable () async throws -> Void) -> Restarting {
        Restarting(onFailure: { self.report(ServiceEvent.failed(name, $0, retryAfter: $1)) }, body: body)
    }
}
