import Board
import FoundationEssentials
import Gateway
import Groundwork
import HTTPClient
import Logging
import Messaging
import Storage

/// An account's link to its gateway: keeps the board registered there and, if the broker uses this account, its station
/// at the broker open.
final actor Link {
    nonisolated let session: GatewaySession
    nonisolated let gateway: GatewayConfiguration
    let account: AccountName
    let hasBroker: Bool
    /// `nil` until the board is registered, and if its broker uses another account.
    var station: Station?
    /// The logged-in user beside it, with the task that keeps the connection; see `Link+User.swift`.
    var userStation: Station?
    var userTask: Task<Void, Never>?
    let userChange = AsyncMutex()
    /// Who has the files of messages open, or opens them: a number for each stay at the broker.
    private(set) var holder: Int?
    private var stays = 0
    /// Whether the holder erases the files once they are closed.
    var erasesFiles = false

    /// Why there is no station, if the outbox is the cause.
    private(set) var outboxFault: MessagingError?

    /// Open once the first attempt to open a station is over, or cannot be made without the gateway.
    private let settled = AsyncGate()
    /// Whether ``registeredDevice()`` asks the gateway for a registration.
    private var isRegistering = false

    let agent: Agent
    /// Subscribed from the beginning, so that events caused by the first caller are reported.
    private let events: AsyncStream<GatewayEvent>

    /// - Parameter hasBroker: whether the board's broker uses this account.
    init(
        session: GatewaySession, gateway: GatewayConfiguration, account: AccountName, hasBroker: Bool, agent: Agent
    ) {
        self.session = session
        self.gateway = gateway
        self.account = account
        self.hasBroker = hasBroker
        self.agent = agent
        events = session.events.subscribe()
    }

    /// Registers the board and keeps its station at the broker; runs until canceled.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.forwardEvents() }
            if agent.configuration.preloadsKeys(of: gateway), !session.isStopped {
                // Otherwise they are downloaded when the first token needs them.
                group.addTask { [session] in try? await session.preloadKeys() }
            }
            await keepStation()
            group.cancelAll()
        }
    }

    /// Passes on the session's events, and learns the time from them.
    private func forwardEvents() async {
        for await event in events {
            agent.report(event, of: account, ends: event.consequences.contains(.identityChanges) ? [.broker] : [])
            // A record that cannot be read is reported by the code that needs it.
            if event.consequences.contains(.timeIsConfirmed) { try? await confirmTime(by: .kept) }
        }
    }

    /// Confirms the clock, by which a server's certificate was valid when its connection was made. The clock may have
    /// been set since, even years ahead: then a connection that was kept is closed, and the next one tells.
    private func confirmTime(by connection: BestKnownTime.Connection) async throws {
        try await learnTime()
        guard let certificate = try await session.status().certificate else { return }
        guard !agent.time.confirm(by: connection, before: certificate.notAfter) else { return }
        agent.client.forgetConnections()
    }

    /// Learns that it is later than the issue of the board's certificate.
    private func learnTime() async throws {
        if let certificate = try await session.status().certificate { agent.time.notBefore(certificate.notBefore) }
    }

    /// The station of a registered board, awaited while its outbox is still being opened: neither a program that starts
    /// with the agent nor one that begins right after the registration may get the answer that the board is not
    /// registered.
    ///
    /// - Throws: `CancellationError` if the caller is canceled while it waits.
    func settledStation() async throws -> Station? {
        if isRegistering, let status = try? await session.status(), status.registration == .registered, isRegistering {
            settled.close()
        }
        try await settled.pass()
        return station
    }

    // MARK: Registration

    private func keepStation() async {
        defer { settled.open() }
        var backoff = Backoff(initial: .seconds(1), cap: .seconds(300))
        while !Task.isCancelled {
            // Subscribed before the attempt, so that a person's action during it is not missed.
            let events = session.events.subscribe()
            let start = ContinuousClock.now
            do {
                // Before the first connection: a board without a clock checks its certificates against this time.
                try await learnTime()
                try await stay(as: try await registeredDevice())
                // The registration was made or lost. If that keeps happening, it must not keep the gateway busy.
                if ContinuousClock.now - start > .seconds(60) { backoff.reset() }
                try? await Task.sleep(for: backoff.next())
            } catch {
                guard !Task.isCancelled else { return }
                outboxFault =
                    if case .outboxUnusable(let fault) = error as? MessagingError { .outboxUnusable(fault) } else {
                        nil
                    }
                settled.open()
                let delay = max(backoff.next(), agent.network.leastDelay(to: gateway.identity.host))
                agent.report(AccountEvent.notReady(error, retryAfter: delay), of: account)
                if (error as? GatewayError)?.needsPerson == true {
                    await Self.identityChange(in: events)
                    backoff.reset()
                } else {
                    if await agent.network.pause(for: delay) { backoff.reset() }
                }
            }
        }
    }

    /// The device identifier, once the board is registered; registers it if necessary.
    ///
    /// A registered board opens its outbox without the gateway: messages published while the gateway is unreachable are
    /// kept, as they are while the broker is unreachable.
    private func registeredDevice() async throws -> String {
        if try await session.status().registration != .registered {
            settled.open()
            guard !session.isStopped else { throw GatewayError.stopped }
            try await register()
        }
        let status = try await session.status()
        guard status.registration == .registered, let device = status.deviceID else {
            throw status.magIdentifier.map(GatewayError.awaitingActivation) ?? GatewayError.notRegistered
        }
        return device
    }

    private func register() async throws {
        isRegistering = true
        defer { isRegistering = false }
        do {
            try await session.ready()
        } catch let error as GatewayError {
            // What fails after the registration, such as the first token, does not keep the outbox closed.
            guard try await session.status().registration == .registered else { throw error }
        }
        // The outbox is opened next.
        settled.close()
    }

    // MARK: At the broker

    /// Keeps the board registered, and connected to the broker if it uses this account, until the identity changes.
    private func stay(as device: String) async throws {
        let changes = session.events.subscribe()
        // The registration may have been lost before the subscription.
        guard try await session.status().registration == .registered else { return settled.open() }
        guard hasBroker else {
            settled.open()
            return try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { [session] in try await Self.keepCertificate(of: session) }
                group.addTask { await Self.identityChange(in: changes) }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
        stays += 1
        holder = stays
        defer { letGo() }
        let station = try await Station(
            device: device, session: session, gateway: gateway, settings: agent.configuration,
            network: agent.network, clock: agent.time.messageClock,
            outboxIsSuspect: outboxFault?.isDamageOfOutbox == true)
        outboxFault = nil
        self.station = station
        settled.open()
        let ending: Result<Void, any Error>
        do {
            ending = .success(try await work(at: station, until: changes))
        } catch {
            ending = .failure(error)
        }
        let inboxes = self.station?.inboxes
        self.station = nil
        await adjustUserStation()
        await station.subscriptions.end()
        // After the gateway withdraws a registration, the device identifier stays, and so do its messages.
        if let now = try? await session.status(), now.deviceID != device {
            _ = try? await station.outbox.clear()
            _ = try? await inboxes?.clear()
        }
        await station.outbox.close()
        await inboxes?.close()
        try ending.get()
    }

    private func letGo() {
        holder = nil
        if erasesFiles { eraseFiles() }
        erasesFiles = false
    }

    private func work(at station: Station, until changes: AsyncStream<GatewayEvent>) async throws {
        let outbox = await station.outbox.status()
        if let path = outbox.setAside {
            agent.report(OutboxEvent.setAside(path: path, rescued: outbox.rescued), of: account)
        }
        let former = await station.outbox.droppedAtOpening
        if former > 0 {
            agent.report(
                OutboxEvent.dropped(count: former, .formerIdentity, total: outbox.dropped.formerIdentity), of: account)
        }
        await publishLatest()
        // Subscribed before anything runs, so that no event is missed.
        let (connection, refusals, drops, messages) = (
            station.messenger.events.subscribe(), station.messenger.events.subscribe(),
            station.outbox.events.subscribe(), station.messenger.messages.subscribe()
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [agent, account] in
                for await event in connection {
                    let isConnected = if case .connected = event { true } else { false }
                    // A record that cannot be read is reported by the code that needs it.
                    if isConnected { try? await self.confirmTime(by: .new) }
                    // A connected board has a valid registration and a valid token.
                    agent.report(event, of: account, ends: isConnected ? [.credentials] : [])
                }
            }
            group.addTask { [agent, account] in for await event in drops { agent.report(event, of: account) } }
            group.addTask { [agent, account] in
                for await event in messages { agent.report(event, of: account) }
            }
            if let inboxes = station.inboxes { group.addTask { await self.workInboxes(inboxes, at: station) } }
            // While it is stopped, the outbox takes messages and keeps them.
            if !session.isStopped {
                group.addTask { await self.keepUserStation() }
                group.addTask { try await station.messenger.run() }
                group.addTask { [session] in try await Self.dropRefusedTokens(of: session, refusals) }
                group.addTask { [session] in try await Self.keepCertificate(of: session) }
            }
            group.addTask { await Self.identityChange(in: changes) }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Publishes readings taken before there was an outbox. The poller counts them as sent, so a steady sensor would
    /// otherwise stay silent for its longest interval.
    private func publishLatest() async {
        await agent.publish(SampleSet(time: agent.time.now, readings: await agent.board.latest()))
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

    /// Renewal has a window of days, so checking twice a day is enough.
    private static func keepCertificate(of session: GatewaySession) async throws {
        while true {
            try await Task.sleep(for: .seconds(12 * 3600))
            // A failure is reported by the session and retried at the next use.
            try? await session.ready()
        }
    }

    /// Returns when the registration is made or lost.
    private static func identityChange(in events: AsyncStream<GatewayEvent>) async {
        for await event in events where event.consequences.contains(.identityChanges) { return }
    }
}

extension MessagingError {
    /// Whether the outbox has to be checked as a whole before it is used again.
    fileprivate var isDamageOfOutbox: Bool {
        if case .outboxUnusable(let error) = self { error.isDamage } else { false }
    }
}
