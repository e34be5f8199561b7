import AgentCore
import AgentGateway
import Board
import FoundationEssentials
import Gateway
import Groundwork
import Messaging
import Storage

/// Keeps the broker session of the board's account open for as long as the board is registered, and that of the
/// logged-in user beside it.
package final actor BrokerSessionKeeper: RegistrationWork {
    package nonisolated let session: GatewaySession
    package nonisolated let gateway: GatewayConfiguration
    package nonisolated let account: AccountName
    package nonisolated let host: Host
    /// `nil` until the board is registered.
    package var brokerSession: BrokerSession?
    /// The logged-in user beside it, with the task that keeps the connection; see `BrokerSessionKeeper+User.swift`.
    package var userBrokerSession: BrokerSession?
    package var userTask: Task<Void, Never>?
    package let userChange = AsyncMutex()
    /// Why there is no broker session, if the outbox is the cause.
    package private(set) var outboxFault: MessagingError?
    /// Who has the files of messages open, or opens them: a number for each stay at the broker.
    private var holder: Int?
    private var stays = 0
    /// Whether the holder erases the files once they are closed.
    private var erasesFiles = false

    package init(session: GatewaySession, gateway: GatewayConfiguration, account: AccountName, host: Host) {
        self.session = session
        self.gateway = gateway
        self.account = account
        self.host = host
    }

    package nonisolated func report(
        _ event: any ReportedEvent, over connection: AgentEvent.Connection = .board, ends: Set<Trouble> = []
    ) {
        host.report(event, of: account, over: connection, ends: ends)
    }

    package func didFail(_ error: any Error) {
        outboxFault =
            if case .outboxUnusable(let fault) = error as? MessagingError { .outboxUnusable(fault) } else { nil }
    }

    package func userWasLocked() async { await endLockedSubscriptions() }

    package func run(
        at link: Link, as device: String, until changes: AsyncStream<GatewayEvent>, isReady: @Sendable () -> Void
    ) async throws {
        stays += 1
        holder = stays
        defer { letGo() }
        let brokerSession = try await BrokerSession(
            device: device, session: session, gateway: gateway, settings: host.settings, network: host.network,
            clock: host.time.watchedClock, outboxIsSuspect: outboxFault?.isDamageOfOutbox == true)
        outboxFault = nil
        self.brokerSession = brokerSession
        isReady()
        let ending: Result<Void, any Error>
        do {
            ending = .success(try await work(at: brokerSession, link, until: changes))
        } catch {
            ending = .failure(error)
        }
        let inboxes = self.brokerSession?.inboxes
        self.brokerSession = nil
        await adjustUserBrokerSession()
        await brokerSession.subscriptions.end()
        // After the gateway withdraws a registration, the device identifier stays, and so do its messages.
        if let now = try? await session.status(), now.deviceID != device {
            _ = try? await brokerSession.outbox.clear()
            _ = try? await inboxes?.clear()
        }
        await brokerSession.outbox.close()
        await inboxes?.close()
        try ending.get()
    }

    private func work(at brokerSession: BrokerSession, _ link: Link, until changes: AsyncStream<GatewayEvent>)
        async throws
    {
        let outbox = await brokerSession.outbox.status()
        if let path = outbox.setAside { report(OutboxEvent.setAside(path: path, rescued: outbox.rescued)) }
        let former = await brokerSession.outbox.droppedAtOpening
        if former > 0 {
            report(OutboxEvent.dropped(count: former, .formerIdentity, total: outbox.dropped.formerIdentity))
        }
        await publishLatest(at: brokerSession)
        // Subscribed before anything runs, so that no event is missed.
        let (connection, refusals, drops, messages) = (
            brokerSession.messenger.events.subscribe(), brokerSession.messenger.events.subscribe(),
            brokerSession.outbox.events.subscribe(), brokerSession.messenger.messages.subscribe()
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for await event in connection {
                    let isConnected = if case .connected = event { true } else { false }
                    // A record that cannot be read is reported by the code that needs it.
                    if isConnected { try? await link.confirmTime(by: .new) }
                    // A connected board has a valid registration and a valid token.
                    self.report(event, ends: isConnected ? [.credentials] : [])
                }
            }
            group.addTask { for await event in drops { self.report(event) } }
            group.addTask { for await event in messages { self.report(event) } }
            if let inboxes = brokerSession.inboxes {
                group.addTask { await self.workInboxes(inboxes, at: brokerSession) }
            }
            let session = session
            // While it is stopped, the outbox takes messages and keeps them.
            if session.isStopped {
                group.addTask { await Link.identityChange(in: changes) }
            } else {
                group.addTask { await self.keepUserBrokerSession() }
                group.addTask { try await brokerSession.messenger.run() }
                group.addTask { try await Self.dropRefusedTokens(of: session, refusals) }
                group.addTask { await Link.identityChange(in: changes, keepingCertificateOf: session) }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Publishes readings taken before there was an outbox. The poller counts them as sent, so a steady sensor would
    /// otherwise stay silent for its longest interval.
    private func publishLatest(at brokerSession: BrokerSession) async {
        guard host.feature(MessagesFeature.self).broker.budget.allows() else { return }
        await brokerSession.offer(
            SampleSet(time: host.time.now, readings: await host.board.latest()), by: host.settings.telemetry)
    }

    /// Drops tokens that the broker refuses: the next connection gets a new one.
    private static func dropRefusedTokens(of session: GatewaySession, _ events: AsyncStream<MessengerEvent>)
        async throws
    {
        for await event in events {
            guard case .refused(let refusal) = event, refusal.concernsCredentials else { continue }
            try await session.dropAccessToken()
        }
    }

    // MARK: Giving up an identity

    /// The outbox and the inboxes are emptied here or at the end of the broker session, whichever comes first. If the
    /// process ends before that, they are emptied when they are next opened, which only another identity does. Where no
    /// broker session is open, because the outbox cannot be, the files are erased.
    package func discarding(
        at link: Link, _ giveUp: @Sendable () async throws -> Void
    ) async throws -> DiscardedMessages {
        guard let outbox = brokerSession?.outbox else {
            let former = holder
            try await giveUp()
            // Another one is of the next identity, which takes no messages over.
            if holder == nil { eraseFiles() } else if holder == former { erasesFiles = true }
            return DiscardedMessages()
        }
        let inboxes = brokerSession?.inboxes
        let before = await outbox.status().dropped.formerIdentity
        let clearedBefore = await inboxes?.cleared ?? 0
        try await giveUp()
        _ = try? await outbox.clear()
        _ = try? await inboxes?.clear()
        return DiscardedMessages(
            unsent: await outbox.status().dropped.formerIdentity - before,
            unread: (await inboxes?.cleared ?? 0) - clearedBefore)
    }

    private func letGo() {
        holder = nil
        if erasesFiles { eraseFiles() }
        erasesFiles = false
    }

    /// They must not be open.
    private func eraseFiles() {
        BrokerSession.removeMessages(of: gateway.identity.scope, in: host.settings.stateDirectory)
    }
}

extension BrokerSession {
    /// Passes readings to the outbox, as one message that nothing waits for. What has no room is counted and reported
    /// by the outbox itself.
    package func offer(_ set: SampleSet, by telemetry: TelemetrySettings) async {
        guard telemetry.enabled, !set.readings.isEmpty else { return }
        await outbox.offer([message(set, by: telemetry)])
    }

    /// - Parameter publisher: the user whose share of the outbox it takes; `nil` for the board.
    package func message(
        _ set: SampleSet, by telemetry: TelemetrySettings, publisher: UInt32? = nil
    ) -> OutgoingMessage {
        OutgoingMessage(
            topic: telemetryTopic, payload: set.payload(), qos: QoS(requested: telemetry.qos) ?? .atLeastOnce,
            kind: .telemetry, publisher: publisher)
    }
}

extension MessagingError {
    /// Whether the outbox has to be checked as a whole before it is used again.
    fileprivate var isDamageOfOutbox: Bool {
        if case .outboxUnusable(let error) = self { error.isDamage } else { false }
    }
}
