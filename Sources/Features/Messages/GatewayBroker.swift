import AgentCore
import AgentGateway
import Gateway
import Groundwork
import Messaging

/// A gateway's broker while the board is registered there: the board's own session, and that of the logged-in user
/// beside it, from log-in to log-out (MAG 9.1).
package final actor GatewayBroker: RegistrationWork {
    package nonisolated let keeper: BrokerSessionKeeper
    private let session: GatewaySession
    private var access: GatewayBrokerAccess?
    private var userBrokerSession: BrokerSession?
    /// Keeps that connection.
    private var userTask: Task<Void, Never>?
    private let userChange = AsyncMutex()

    private nonisolated var host: Host { keeper.host }

    package init(session: GatewaySession, gateway: GatewayConfiguration, account: AccountName, host: Host) {
        self.session = session
        keeper = BrokerSessionKeeper(scope: gateway.identity.scope, account: account, host: host)
    }

    package func run(
        at link: Link, as device: String, until changes: AsyncStream<GatewayEvent>, isReady: @Sendable () -> Void
    ) async throws {
        let access = GatewayBrokerAccess(link)
        self.access = access
        let session = session
        let companions: [BrokerSessionKeeper.Companion] =
            session.isStopped
            ? [{ await Link.identityChange(in: changes) }]
            : [
                { await self.keepUserBrokerSession() },
                { await Link.identityChange(in: changes, keepingCertificateOf: session) },
            ]
        try await keeper.run(as: device, at: access, beside: companions, isReady: isReady) {
            await self.adjustUserBrokerSession()
            // After the gateway withdraws a registration, the device identifier stays, and so do its messages.
            guard let now = try? await session.status() else { return false }
            return now.deviceID != device
        }
    }

    package func didFail(_ error: any Error) async { await keeper.didFail(error) }

    package func discarding(
        at link: Link, _ giveUp: @Sendable () async throws -> Void
    ) async throws -> DiscardedMessages { try await keeper.discarding(giveUp) }

    package func userWasLocked() async { await endLockedSubscriptions() }

    package func userDidChange() async {
        if let fault = try? await session.userFault() { await userBrokerSession?.subscriptions.end(because: fault) }
        await adjustUserBrokerSession()
    }

    // MARK: The user

    /// The session of the logged-in user, if it is open.
    package var openUserBrokerSession: BrokerSession? { userBrokerSession }

    /// The broker session of the logged-in user.
    ///
    /// - Throws: ``MessagingError``: `userRequired`, `userUnusable`; `SessionLockError.messagesLocked`;
    ///   `GatewayError.stopped`; what the vault throws.
    package func activeUserBrokerSession() async throws -> BrokerSession {
        guard !session.isStopped else { throw GatewayError.stopped }
        await adjustUserBrokerSession()
        if let userBrokerSession { return userBrokerSession }
        if try await session.lockStatus() != nil { throw SessionLockError.messagesLocked }
        if let fault = try await session.userFault() { throw fault }
        guard let user = try await session.user() else { throw MessagingError.userRequired }
        throw MessagingError.userUnusable(name: user.userName)
    }

    /// Follows who is logged in, until canceled.
    private func keepUserBrokerSession() async {
        let events = session.events.subscribe()
        await adjustUserBrokerSession()
        // Events are rare, and several kinds of them change who is logged in.
        for await _ in events { await adjustUserBrokerSession() }
    }

    /// Ends the connection of a user who is no longer logged in, and begins that of the one who is. Without the
    /// board's broker session there is none.
    private func adjustUserBrokerSession() async {
        await userChange.lock()
        defer { userChange.unlock() }
        let board = await keeper.brokerSession
        let user =
            board != nil && !session.isStopped && host.settings.broker.userConnection
            ? try? await session.user() : nil
        guard
            user?.loggedInAt != userBrokerSession?.user?.loggedInAt
                || user?.userName != userBrokerSession?.user?.userName
        else {
            return
        }
        await endUserBrokerSession()
        guard let user, let board, let access,
            let begun = try? await BrokerSession(
                user, of: board, access: access, settings: host.settings, network: host.network)
        else { return }
        userBrokerSession = begun
        userTask = Task { [session] in await self.work(at: begun, session) }
    }

    /// Ends the subscriptions of local programs to messages of a user whose session was just locked: what arrives
    /// while the connection is being ended reaches no one.
    private func endLockedSubscriptions() async {
        await userBrokerSession?.subscriptions.end(because: SessionLockError.messagesLocked)
    }

    /// The caller must hold ``userChange``.
    private func endUserBrokerSession() async {
        guard let brokerSession = userBrokerSession else { return }
        // A lock that the agent did not make by itself, such as one that it found.
        if case .some(.some) = try? await session.lockStatus() { await endLockedSubscriptions() }
        // First, so that the broker forgets what was subscribed to; and a caller that locks the session meanwhile waits
        // too.
        await brokerSession.subscriptions.end()
        userBrokerSession = nil
        userTask?.cancel()
        await userTask?.value
        userTask = nil
        await brokerSession.outbox.refuseHeld(because: .userRequired)
        await brokerSession.outbox.close()
    }

    private nonisolated func work(at brokerSession: BrokerSession, _ session: GatewaySession) async {
        let messenger = brokerSession.messenger
        let (connection, messages) = (messenger.events.subscribe(), messenger.messages.subscribe())
        // Not children of this task: they end with their streams, after the last event.
        let reports = [
            Task {
                var mayDropToken = true
                for await event in connection {
                    self.keeper.report(event, over: .user)
                    switch event {
                    case .connected: mayDropToken = true
                    // Once: a broker that takes no users refuses every token.
                    case .refused(let refusal) where refusal.concernsCredentials && mayDropToken:
                        mayDropToken = false
                        try? await session.dropUserAccessToken()
                    case .refused, .connecting, .failed, .disconnected, .subscriptionRefused: break
                    }
                }
            },
            Task { for await event in messages { self.keeper.report(event, over: .user) } },
        ]
        try? await messenger.run()
        messenger.events.finish()
        messenger.messages.finish()
        for report in reports { await report.value }
    }
}
