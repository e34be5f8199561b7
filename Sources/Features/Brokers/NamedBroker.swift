import AgentCore
import AgentMessages
import Groundwork
import Messaging

/// The broker of an account for the programs of this board, with one connection for all of them: made when the first
/// needs it, and ended a while after the last.
///
/// Nothing is kept: a message is accepted when the broker has it (``Durability/broker``).
package actor NamedBroker {
    /// One connection, which may be lost and made again.
    package struct Connection: Sendable {
        package let messenger: Messenger
        package let outbox: Outbox
        /// The subscriptions of local programs; they end with it.
        package let subscriptions: OpenSubscriptions
        /// `nil` for the board's own.
        fileprivate let work: Task<Void, Never>?
    }

    /// How long an unused connection stays: a program that publishes every few seconds needs only one.
    private static let patience = Duration.seconds(30)

    package nonisolated let settings: BrokerAccount
    private let login: BrokerLogin
    private let policy: OutboxPolicy
    private let network: NetworkWatch
    private let report: @Sendable (any ReportedEvent) -> Void

    package private(set) var connection: Connection?
    private var uses = 0
    private var lingering: Task<Void, Never>?
    private let change = AsyncMutex()
    /// Why the last connection ended or could not be made.
    package private(set) var lastError: MessagingError?

    package init(
        _ login: BrokerLogin, policy: OutboxPolicy, network: NetworkWatch,
        report: @escaping @Sendable (any ReportedEvent) -> Void
    ) {
        (self.login, settings) = (login, login.account)
        self.policy = policy
        self.network = network
        self.report = report
    }

    /// A right to use the connection, which ends with its last reference.
    package final class Use: Sendable {
        package let connection: Connection
        private let broker: NamedBroker?

        fileprivate init(_ connection: Connection, of broker: NamedBroker) {
            (self.connection, self.broker) = (connection, broker)
        }

        /// The board's own connection, which no program has to keep.
        init(_ session: BrokerSession) {
            connection = Connection(
                messenger: session.messenger, outbox: session.outbox, subscriptions: session.subscriptions, work: nil)
            broker = nil
        }

        deinit { if let broker { Task { await broker.release() } } }
    }

    /// Connects if necessary, and waits for the first attempt.
    ///
    /// - Throws: ``MessagingError``: why there is no connection.
    package func use() async throws(MessagingError) -> Use {
        await change.lock()
        uses += 1
        lingering?.cancel()
        lingering = nil
        if connection == nil {
            do throws(MessagingError) {
                connection = try await connect()
            } catch {
                uses -= 1
                change.unlock()
                throw error
            }
        }
        guard let connection else { preconditionFailure("there is one") }
        change.unlock()
        let use = Use(connection, of: self)
        await connection.messenger.settle()
        let status = await connection.messenger.status()
        // Between two attempts no caller has to wait for the next to learn why there is no connection.
        if status.state == .waiting, let error = status.lastError { throw error }
        return use
    }

    private func connect() async throws(MessagingError) -> Connection {
        var messaging = MessengerSettings()
        messaging.keepAlive = .seconds(settings.keepAliveSeconds)
        messaging.cleanSession = settings.cleanSession
        messaging.will = settings.will
        messaging.proxy = { [way = login.way] in try way.proxy(to: $0) }
        messaging.leastDelay = { [network, host = settings.address.host] in network.leastDelay(to: host) }
        let outbox = try await Outbox.open(at: "", policy: policy, durability: .broker)
        let messenger = Messenger(addresses: settings.addresses, outbox: outbox, settings: messaging) { [login] in
            try await login.credentials(at: $0)
        }
        let (events, messages) = (messenger.events.subscribe(), messenger.messages.subscribe())
        let work = Task { [weak self, report] in
            let reports = Task {
                for await event in messages { report(event) }
            }
            let notes = Task { [weak self] in
                for await event in events {
                    report(event)
                    await self?.note(event)
                }
            }
            try? await messenger.run()
            messenger.events.finish()
            messenger.messages.finish()
            await notes.value
            await reports.value
        }
        return Connection(
            messenger: messenger, outbox: outbox,
            subscriptions: OpenSubscriptions(endingWith: BrokerError.disconnected(settings.name)), work: work)
    }

    private func note(_ event: MessengerEvent) {
        switch event {
        case .connected: lastError = nil
        case .failed(let error, _): lastError = error
        case .refused: login.tokenWasRefused()
        case .connecting, .disconnected, .subscriptionRefused: break
        }
    }

    private func release() async {
        await change.lock()
        defer { change.unlock() }
        uses -= 1
        guard uses == 0, let connection else { return }
        guard await connection.messenger.status().state == .connected else { return await close() }
        lingering = Task {
            guard (try? await Task.sleep(for: Self.patience)) != nil else { return }
            await endUnused()
        }
    }

    private func endUnused() async {
        await change.lock()
        defer { change.unlock() }
        if uses == 0 { await close() }
    }

    /// Ends the connection and the subscriptions of all programs; the next use connects again.
    ///
    /// - Returns: whether there was a connection.
    package func disconnect() async -> Bool {
        await change.lock()
        defer { change.unlock() }
        let wasThere = connection != nil
        await close()
        return wasThere
    }

    /// The caller must hold ``change``.
    private func close() async {
        lingering?.cancel()
        lingering = nil
        guard let connection else { return }
        self.connection = nil
        // First, so that the broker forgets what was subscribed to.
        await connection.subscriptions.end()
        connection.work?.cancel()
        await connection.work?.value
        await connection.outbox.refuseHeld(because: .notConfirmed)
        await connection.outbox.close()
    }
}
