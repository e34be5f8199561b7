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

    package init(_ host: Host, gateways: GatewayAccounts) {
        self.host = host
        self.gateways = gateways
        account = AccountName(host.settings.broker.account) ?? .gateway
        host.accounts.install(broker: account)
        gateways.added.work = { [host, account] session, gateway, name in
            guard name == account else { return nil }
            return StationKeeper(session: session, gateway: gateway, account: name, host: host)
        }
        gateways.added.erase = { [host] scope in
            Station.removeMessages(of: scope, in: host.settings.stateDirectory)
        }
    }

    /// The keeper of the account's station, if there is such an account.
    package var keeper: StationKeeper? { get async { await gateways.table[account]?.link.work as? StationKeeper } }

    /// The station, if it is open.
    package var station: Station? { get async { await keeper?.station } }

    /// Telemetry messages that no account could take.
    package var unsentTelemetry: Int { unsent.withLock { $0 } }

    /// The station at the broker.
    ///
    /// - Throws: ``AgentError/notEnrolled``, ``AccountError/unknown(_:)``, `GatewayError.notRegistered`,
    ///   `GatewayError.awaitingActivation`, `CancellationError`, or why the outbox of a registered board cannot be
    ///   opened.
    package func activeStation() async throws -> Station {
        let link = try await gateways.account(account).link
        let keeper = link.work as? StationKeeper
        try await link.settle()
        if let station = await keeper?.station { return station }
        if let fault = await keeper?.outboxFault { throw fault }
        let status = try await link.session.status()
        throw status.registration == .pending
            ? status.magIdentifier.map(GatewayError.awaitingActivation) ?? .notRegistered
            : .notRegistered
    }

    /// The station of the logged-in user.
    ///
    /// - Throws: the errors of ``activeStation()``; ``MessagingError``: `userConnectionOff`, `userRequired`,
    ///   `userUnusable`
    package func activeUserStation() async throws -> Station {
        _ = try await activeStation()
        guard host.settings.broker.userConnection else { throw MessagingError.userConnectionOff }
        guard let keeper = await keeper else { throw AgentError.subscriptionEnded }
        return try await keeper.activeUserStation()
    }

    package func station(of speaker: Speaker) async throws -> Station {
        speaker == .board ? try await activeStation() : try await activeUserStation()
    }

    /// The inboxes of the board.
    ///
    /// - Throws: what ``activeStation()`` throws; `MessagingError.noSuchInbox` if there are none.
    package func activeInboxes(naming name: String) async throws -> InboxStore {
        guard let inboxes = try await activeStation().inboxes else { throw MessagingError.noSuchInbox(name) }
        return inboxes
    }

    /// Passes readings to the broker, as one message that nothing waits for. Without an account that has a broker it is
    /// counted, and dropped.
    package func publish(_ set: SampleSet) async {
        guard host.settings.telemetry.enabled, !set.readings.isEmpty else { return }
        guard let station = await station else { return unsent.withLock { $0 += 1 } }
        await station.offer(set, by: host.settings.telemetry)
    }

    /// Has the outbox accept readings, as any sensor's.
    ///
    /// - Returns: `false` if nothing takes them now.
    package func publish(_ set: SampleSet, by publisher: UInt32?) async throws -> Bool {
        guard host.settings.telemetry.enabled, let station = await station else { return false }
        return try await !station.accept([
            station.message(set, by: host.settings.telemetry, publisher: publisher)
        ]).isEmpty
    }
}
