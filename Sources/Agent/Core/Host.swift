import FoundationEssentials
import Groundwork
import HTTPClient
import LocalAPI
import Logging
import Prompts
import Synchronization
import Vault

/// All that a feature may know of the agent.
final class Host: Sendable {
    let settings: AgentConfiguration
    let vault: Vault
    let client: HTTPClient
    /// By which certificates are judged.
    let time: BestKnownTime
    let prompts = PromptDesk()
    let accounts: AccountRegistry
    private let reporter: EventReporter
    private let routes = Mutex<@Sendable ((any Feature.Type)?) -> Router>({ _ in Router() })

    init(settings: AgentConfiguration, vault: Vault, client: HTTPClient, time: BestKnownTime, logger: Logger) {
        self.settings = settings
        self.vault = vault
        self.client = client
        self.time = time
        accounts = AccountRegistry(vault: vault, broker: AccountName(settings.broker.account) ?? .gateway)
        reporter = EventReporter(logger)
    }

    // MARK: Events

    var events: Broadcast<AgentEvent> { reporter.events }

    /// Reports an event to subscribers and the log.
    func report(_ event: AgentEvent) { reporter.report(event) }

    /// Reports an event that happens now.
    ///
    /// - Parameters:
    ///   - account: the account of the event; the default one for those of none.
    ///   - ends: troubles of other rooms that it ends, beside those of its own.
    func report(
        _ event: any ReportedEvent, of account: AccountName = .gateway, over connection: AgentEvent.Connection = .board,
        ends: Set<Trouble> = []
    ) {
        report(AgentEvent(event, of: account, over: connection, ends: ends, at: time.now))
    }

    /// The newest event that needs a person's attention, until another one ends it or a day has passed.
    var lastTrouble: AgentEvent? { reporter.newestTrouble(at: time.now) }

    // MARK: Routes

    /// - Parameter routes: the routes of all features but one.
    func install(_ routes: @escaping @Sendable ((any Feature.Type)?) -> Router) {
        self.routes.withLock { $0 = routes }
    }

    /// The routes of all features.
    ///
    /// - Parameter left: whose are left out.
    func router(without left: (any Feature.Type)? = nil) -> Router { routes.withLock(\.self)(left) }

    // MARK: Services

    /// A service that is started again after a failure, which is reported.
    func restarting(_ name: String, _ body: @escaping @Sendable () async throws -> Void) -> Restarting {
        Restarting(onFailure: { self.report(ServiceEvent.failed(name, $0, retryAfter: $1)) }, body: body)
    }
}
