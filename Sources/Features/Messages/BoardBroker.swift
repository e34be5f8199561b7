import AgentCore
import AgentGateway
import Board
import Gateway
import Groundwork
import Messaging
import Synchronization

/// The broker that the board's messages go to: that of the account which the settings name.
package final class BoardBroker: Sendable {
    package let host: Host
    package let gateways: GatewayAccounts
    package let account: AccountName
    private let unsent = Mutex(0)
    package let budget: TelemetryBudget

    package init(_ host: Host, gateways: GatewayAccounts) {
        self.host = host
        self.gateways = gateways
        account = AccountName(host.settings.broker.account) ?? .gateway
        budget = TelemetryBudget(of: host)
        host.accounts.install(broker: account)
        gateways.added.work = { [host, account] session, gateway, name in
            guard name == account else { return nil }
            return BrokerSessionKeeper(session: session, gateway: gateway, account: name, host: host)
        }
        gateways.added.erase = { [host] scope in
            BrokerSession.removeMessages(of: scope, in: host.settings.stateDirectory)
        }
    }

    /// The keeper of the account's broker session, if there is such an account.
    package var keeper: BrokerSessionKeeper? {
        get async { await gateways.table[account]?.link.work as? BrokerSessionKeeper }
    }

    /// The broker session, if it is open.
    package var brokerSession: BrokerSession? { get async { await keeper?.brokerSession } }

    /// Telemetry messages that no account could take.
    package var unsentTelemetry: Int { unsent.withLock { $0 } }

    /// The broker session at the broker.
    ///
    /// - Throws: ``AgentError/notEnrolled``, ``AccountError/unknown(_:)``, `GatewayError.notRegistered`,
    ///   `GatewayError.awaitingActivation`, `CancellationError`, or why the outbox of a registered board cannot be
    ///   opened.
    package func activeBrokerSession() async throws -> BrokerSession {
        let link = try await gateways.account(account).link
        let keeper = link.work as? BrokerSessionKeeper
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
    ///   `userUnusable`
    package func activeUserBrokerSession() async throws -> BrokerSession {
        _ = try await activeBrokerSession()
        guard host.settings.broker.userConnection else { throw MessagingError.userConnectionOff }
        guard let keeper = await keeper else { throw AgentError.subscriptionEnded }
        return try await keeper.activeUserBrokerSession()
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
        guard let brokerSession = await brokerSession else { return unsent.withLock { $0 += 1 } }
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
