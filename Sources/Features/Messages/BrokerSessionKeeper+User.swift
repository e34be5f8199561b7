import AgentCore
import Gateway
import Groundwork
import Messaging

/// The logged-in user at the broker, with a connection beside the board's: from log-in to log-out (MAG 9.1).
extension BrokerSessionKeeper {
    /// The broker session of the logged-in user.
    ///
    /// - Throws: ``MessagingError``: `userRequired`, `userUnusable`; `SessionLockError.messagesLocked`;
    ///   `GatewayError.stopped`; what the vault throws.
    package func activeUserBrokerSession() async throws -> BrokerSession {
        guard !session.isStopped else { throw GatewayError.stopped }
        await adjustUserBrokerSession()
        if let userBrokerSession { return userBrokerSession }
        if try await session.lockStatus() != nil { throw SessionLockError.messagesLocked }
        guard let user = try await session.user() else { throw MessagingError.userRequired }
        throw MessagingError.userUnusable(name: user.userName)
    }

    /// Follows who is logged in, until canceled.
    package func keepUserBrokerSession() async {
        let events = session.events.subscribe()
        await adjustUserBrokerSession()
        // Events are rare, and several kinds of them change who is logged in.
        for await _ in events { await adjustUserBrokerSession() }
    }

    /// Ends the connection of a user who is no longer logged in, and begins that of the one who is. Without the
    /// board's broker session there is none.
    package func adjustUserBrokerSession() async {
        await userChange.lock()
        defer { userChange.unlock() }
        let user =
            brokerSession != nil && !session.isStopped && host.settings.broker.userConnection
            ? try? await session.user() : nil
        guard
            user?.loggedInAt != userBrokerSession?.user?.loggedInAt
                || user?.userName != userBrokerSession?.user?.userName
        else {
            return
        }
        await endUserBrokerSession()
        guard let user, let board = brokerSession,
            let begun = try? await BrokerSession(
                user, of: board, session: session, gateway: gateway, settings: host.settings,
                network: host.network)
        else { return }
        userBrokerSession = begun
        userTask = Task { [session] in await self.work(at: begun, session) }
    }

    /// Ends the subscriptions of local programs to messages of a user whose session was just locked: what arrives
    /// while the connection is being ended reaches no one.
    package func endLockedSubscriptions() async {
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
                    self.report(event, over: .user)
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
            Task { for await event in messages { self.report(event, over: .user) } },
        ]
        try? await messenger.run()
        messenger.events.finish()
        messenger.messages.finish()
        for report in reports { await report.value }
    }
}
