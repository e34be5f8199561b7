import AgentCore
import AgentGateway
import Board
import FoundationEssentials
import Gateway
import Groundwork
import Messaging
import Storage

/// Keeps the broker session of the board's account open for as long as the board has an identity there.
package final actor BrokerSessionKeeper {
    package nonisolated let account: AccountName
    package nonisolated let host: Host
    /// What the files of messages are named after; see ``BrokerAccess/scope``.
    package nonisolated let scope: String
    /// `nil` until the board has an identity.
    package var brokerSession: BrokerSession?
    /// Why there is no broker session, if the outbox is the cause.
    package private(set) var outboxFault: MessagingError?
    /// Who has the files of messages open, or opens them: a number for each stay at the broker.
    private var holder: Int?
    private var stays = 0
    /// Whether the holder erases the files once they are closed.
    private var erasesFiles = false

    package init(scope: String, account: AccountName, host: Host) {
        self.scope = scope
        self.account = account
        self.host = host
    }

    package nonisolated func report(
        _ event: any ReportedEvent, over connection: AgentEvent.Connection = .board, ends: Set<Trouble> = []
    ) {
        host.report(event, of: account, over: connection, ends: ends)
    }

    /// Takes note of why the last stay ended, or could not begin.
    package func didFail(_ error: any Error) {
        outboxFault =
            if case .outboxUnusable(let fault) = error as? MessagingError { .outboxUnusable(fault) } else { nil }
    }

    /// Work beside a broker session, which ends with it; whichever part ends first ends the session.
    package typealias Companion = @Sendable () async throws -> Void

    /// Stays at the broker until the work fails, one of the companions ends, or the task is canceled.
    ///
    /// - Parameters:
    ///   - device: what the board is called there.
    ///   - companions: while the account is stopped, they alone go on: the outbox takes messages and keeps them.
    ///   - isReady: called once messages are accepted.
    ///   - isFormer: called at the end; whether the messages are those of a former identity, and to be dropped.
    package func run(
        as device: String, at access: any BrokerAccess, beside companions: [Companion],
        isReady: @Sendable () -> Void, isFormer: @Sendable () async -> Bool
    ) async throws {
        stays += 1
        holder = stays
        defer { letGo() }
        let brokerSession = try await BrokerSession(
            device: device, access: access, settings: host.settings, network: host.network,
            clock: host.time.watchedClock, outboxIsSuspect: outboxFault?.isDamageOfOutbox == true)
        outboxFault = nil
        self.brokerSession = brokerSession
        isReady()
        let ending: Result<Void, any Error>
        do {
            ending = .success(try await work(at: brokerSession, access, beside: companions))
        } catch {
            ending = .failure(error)
        }
        let inboxes = self.brokerSession?.inboxes
        self.brokerSession = nil
        let isFormer = await isFormer()
        await brokerSession.subscriptions.end()
        if isFormer {
            _ = try? await brokerSession.outbox.clear()
            _ = try? await inboxes?.clear()
        }
        await brokerSession.outbox.close()
        await inboxes?.close()
        try ending.get()
    }

    private func work(
        at brokerSession: BrokerSession, _ access: any BrokerAccess, beside companions: [Companion]
    ) async throws {
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
                    if isConnected { await access.didConnect() }
                    // A connected board has a valid registration and valid credentials.
                    self.report(event, ends: isConnected ? [.credentials] : [])
                }
            }
            group.addTask { for await event in drops { self.report(event) } }
            group.addTask { for await event in messages { self.report(event) } }
            if let inboxes = brokerSession.inboxes {
                group.addTask { await self.workInboxes(inboxes, at: brokerSession) }
            }
            if !access.isStopped {
                group.addTask { try await brokerSession.messenger.run() }
                group.addTask { try await Self.replaceRefused(of: access, refusals) }
            }
            for companion in companions { group.addTask { try await companion() } }
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

    /// The next connection gets other credentials than those that the broker refuses.
    private static func replaceRefused(of access: any BrokerAccess, _ events: AsyncStream<MessengerEvent>) async throws
    {
        for await event in events {
            guard case .refused(let refusal) = event, refusal.concernsCredentials else { continue }
            try await access.credentialsWereRefused()
        }
    }

    // MARK: Giving up an identity

    /// The outbox and the inboxes are emptied here or at the end of the broker session, whichever comes first. If the
    /// process ends before that, they are emptied when they are next opened, which only another identity does. Where no
    /// broker session is open, because the outbox cannot be, the files are erased.
    package func discarding(_ giveUp: @Sendable () async throws -> Void) async throws -> DiscardedMessages {
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
    private func eraseFiles() { BrokerSession.removeMessages(of: scope, in: host.settings.stateDirectory) }
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
