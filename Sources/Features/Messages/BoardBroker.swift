import AgentCore
import AgentGateway
import Board
import Gateway
import Groundwork
import Messaging
import Synchronization

/// Accounts of a kind other than the gateway's that have a broker for the board's messages.
package protocol BoardBrokerSource: Sendable {
    /// - Returns: `nil` for an account that is not of this kind.
    func keeper(of account: AccountName) -> BrokerSessionKeeper?

    /// Waits while the broker session of the account is being begun.
    func settle(_ account: AccountName) async throws
}

/// The broker that the board's messages go to: that of the account which the settings name. Where they name none, it is
/// that of the account that was made for this, else the default gateway's.
package final class BoardBroker: Sendable {
    package let host: Host
    package let gateways: GatewayAccounts
    package let budget: TelemetryBudget
    private let state: Mutex<State>

    private struct State {
        var account: AccountName
        var source: (any BoardBrokerSource)?
        var unsent = 0
    }

    package init(_ host: Host, gateways: GatewayAccounts) {
        self.host = host
        self.gateways = gateways
        budget = TelemetryBudget(of: host)
        state = Mutex(State(account: AccountName(host.settings.broker.account) ?? .gateway))
        host.accounts.install(broker: account)
        gateways.added.work = { [weak self] session, gateway, name in
            guard let self, name == account else { return nil }
            return GatewayBroker(session: session, gateway: gateway, account: name, host: host)
        }
        gateways.added.erase = { [host] scope in
            BrokerSession.removeMessages(of: scope, in: host.settings.stateDirectory)
        }
    }

    package var account: AccountName { state.withLock { $0.account } }

    /// Whether the settings leave it to the accounts which of them carries the board's messages.
    package var isChosenByAccounts: Bool { host.settings.broker.account.isEmpty }

    /// Whether the board's messages go nowhere, and the settings do not say where.
    package var isFree: Bool {
        get async {
            guard isChosenByAccounts, await keeper == nil else { return false }
            return await gateways.table.all.isEmpty
        }
    }

    package func install(_ source: any BoardBrokerSource) { state.withLock { $0.source = source } }

    /// From now on the board's messages go to the broker of this account.
    package func use(_ account: AccountName) {
        state.withLock { $0.account = account }
        host.accounts.install(broker: account)
    }

    /// The broker of the gateway, if the board's messages go there.
    package var gatewayBroker: GatewayBroker? {
        get async { await gateways.table[account]?.link.work as? GatewayBroker }
    }

    /// The keeper of the account's broker session, if there is such an account.
    package var keeper: BrokerSessionKeeper? {
        get async {
            let (account, source) = state.withLock { ($0.account, $0.source) }
            if let keeper = source?.keeper(of: account) { return keeper }
            return await gatewayBroker?.keeper
        }
    }

    /// The broker session, if it is open.
    package var brokerSession: BrokerSession? { get async { await keeper?.brokerSession } }

    /// Telemetry messages that no account could take.
    package var unsentTelemetry: Int { state.withLock { $0.unsent } }

    /// The broker session at the broker.
    ///
    /// - Throws: ``AgentError/notEnrolled``, ``AccountError/unknown(_:)``, `GatewayError.notRegistered`,
    ///   `GatewayError.awaitingActivation`, `CancellationError`, or why the outbox of a registered board cannot be
    ///   opened.
    package func activeBrokerSession() async throws -> BrokerSession {
        let (account, source) = state.withLock { ($0.account, $0.source) }
        if let source, let keeper = source.keeper(of: account) {
            try await source.settle(account)
            if let brokerSession = await keeper.brokerSession { return brokerSession }
            throw await keeper.outboxFault ?? AgentError.subscriptionEnded as any Error
        }
        let link = try await gateways.account(account).link
        let keeper = (link.work as? GatewayBroker)?.keeper
        try await link.settle()
        if let brokerSession = await keeper?.brokerSession { return brokerSession }
        if let fault = await keeper?.outboxFault { throw fault }
        let status = try await link.session.status()
        throw status.registration == .pending
            ? status.magIdentifier.map(GatewayError.awaitingActivation) ?? .notRegistered
            : .notRegistered
    }

    /// The broker session of the logged-in user.
    ///
    /// - Throws: the errors of ``activeBrokerSession()``; ``MessagingError``: `userConnectionOff`, `userRequired`,
    ///   `userUnusable`; ``AccountError/otherKind(_:kind:)`` of an account that is not at a gateway
    package func activeUserBrokerSession() async throws -> BrokerSession {
        _ = try await activeBrokerSession()
        guard host.settings.broker.userConnection else { throw MessagingError.userConnectionOff }
        guard let gateway = await gatewayBroker else {
            let fault = try await host.accounts.fault(of: account, notOf: AccountName.gateway.text)
            if case AccountError.otherKind = fault { throw fault }
            throw AgentError.subscriptionEnded
        }
        return try await gateway.activeUserBrokerSession()
    }

    package func brokerSession(of speaker: Speaker) async throws -> BrokerSession {
        speaker == .board ? try await activeBrokerSession() : try await activeUserBrokerSession()
    }

    /// The inboxes of the board.
    ///
    /// - Throws: what ``activeBrokerSession()`` throws; `MessagingError.noSuchInbox` if there are none.
    package func activeInboxes(naming name: String) async throws -> InboxStore {
        guard let inboxes = try await activeBrokerSession().inboxes else { throw MessagingError.noSuchInbox(name) }
        return inboxes
    }

    /// Passes readings to the broker, as one message that nothing waits for. Without an account that has a broker it is
    /// counted, and dropped.
    package func publish(_ set: SampleSet) async {
        guard host.settings.telemetry.enabled, !set.readings.isEmpty, budget.allows() else { return }
        guard let brokerSession = await brokerSession else { return state.withLock { $0.unsent += 1 } }
        await brokerSession.offer(set, by: host.settings.telemetry)
    }

    /// Has the outbox accept readings, as any sensor's.
    ///
    /// - Returns: `false` if nothing takes them now.
    package func publish(_ set: SampleSet, by publisher: UInt32?) async throws -> Bool {
        guard host.settings.telemetry.enabled, let brokerSession = await brokerSession, budget.allows() else {
            return false
        }
        return try await !brokerSession.accept([
            brokerSession.message(set, by: host.settings.telemetry, publisher: publisher)
        ]).isEmpty
    }
}
