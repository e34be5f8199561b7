import Board
import FoundationEssentials
import Gateway
import Groundwork
import Logging
import Messaging
import Storage

/// The link to the active gateway: keeps the board registered there, and its station at the broker while it is.
actor Link {
    nonisolated let session: GatewaySession
    nonisolated let gateway: GatewayConfiguration
    /// `nil` until the board is registered.
    private(set) var station: Station?

    /// Why there is no station, where that is the outbox.
    private(set) var outboxFault: MessagingError?

    /// Whether the first attempt to open a station is over, or cannot be made without the gateway.
    private var isSettled = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    private let agent: Agent
    /// Subscribed from the beginning: what the first caller brings about is told.
    private let events: AsyncStream<GatewayEvent>

    init(session: GatewaySession, gateway: GatewayConfiguration, agent: Agent) {
        self.session = session
        self.gateway = gateway
        self.agent = agent
        events = session.events.subscribe()
    }

    /// Registers the board and keeps its station at the broker; ends by cancellation.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.tell() }
            await keepStation()
            group.cancelAll()
        }
    }

    /// Passes on what the session tells, and learns the time from it.
    private func tell() async {
        for await event in events {
            agent.report(.gateway(event))
            switch event {
            case .deviceDidRegister, .deviceDidRenew, .tokenDidArrive:
                // What cannot be read is told by whoever needs it.
                try? await confirmTime()
            default: break
            }
        }
    }

    /// The gateway's certificate was valid by the clock when its connection was made. That may have been before the clock was
    /// set, years ahead even: what the board's own certificate does not live to see is not believed.
    private func confirmTime() async throws {
        try await learnTime()
        guard let certificate = try await session.status().certificate, agent.time.now < certificate.notAfter else {
            return
        }
        agent.time.confirm()
    }

    /// The certificate issued to this board lies in the past.
    private func learnTime() async throws {
        if let certificate = try await session.status().certificate { agent.time.notBefore(certificate.notBefore) }
    }

    /// The station of a board that is registered, also while its outbox is still being opened: a program that starts with the
    /// agent is not told that the board is not registered.
    func settledStation() async -> Station? {
        if !isSettled { await withCheckedContinuation { waiting.append($0) } }
        return station
    }

    private func settle() {
        isSettled = true
        for waiter in waiting { waiter.resume() }
        waiting = []
    }

    // MARK: Registration

    private func keepStation() async {
        defer { settle() }
        var backoff = Backoff(initial: .seconds(1), cap: .seconds(300))
        while !Task.isCancelled {
            // Subscribed before the attempt: a person who acts while it fails is not missed.
            let events = session.events.subscribe()
            let start = ContinuousClock.now
            do {
                // Before the first connection: on a board without a clock its certificates are judged by this.
                try await learnTime()
                try await stay(as: try await registeredDevice())
                // The registration came or went. One that keeps doing so must not keep the gateway busy.
                if ContinuousClock.now - start > .seconds(60) { backoff.reset() }
                try? await Task.sleep(for: backoff.next())
            } catch {
                guard !Task.isCancelled else { return }
                outboxFault =
                    if case .outboxUnusable(let fault) = error as? MessagingError { .outboxUnusable(fault) } else {
                        nil
                    }
                settle()
                let delay = backoff.next()
                agent.report(.own(.notReady(error, retryAfter: delay)))
                if (error as? GatewayError)?.needsPerson == true {
                    await Self.identityChange(in: events)
                    backoff.reset()
                } else {
                    try? await Task.sleep(for: delay)
                }
            }
        }
    }

    /// The device identifier, once the board is registered; registers it where it is not.
    ///
    /// A registered board needs no word of the gateway to open its outbox: what is published while the gateway is away is
    /// kept like what is published while the broker is.
    private func registeredDevice() async throws -> String {
        if try await session.status().registration != .registered {
            settle()
            try await session.ready()
        }
        let status = try await session.status()
        guard status.registration == .registered, let device = status.deviceID else {
            throw status.magIdentifier.map(GatewayError.awaitingActivation) ?? GatewayError.notRegistered
        }
        return device
    }

    // MARK: Giving the identity up

    /// Removes the device at the gateway, then here, with the messages that wait: they are of an identity that is no more.
    ///
    /// - Returns: how many messages there were.
    /// - Throws: `GatewayError`; everything is then as before.
    func deregister() async throws -> Int {
        try await discarding { try await session.deregister() }
    }

    /// Forgets the device here only, with the messages that wait.
    ///
    /// - Returns: how many messages there were.
    func reset() async throws -> Int {
        try await discarding { try await session.reset() }
    }

    /// The outbox is emptied here or by the end of the station, whichever comes first; where this process ends before, when
    /// it is next opened, which only another identity does.
    private func discarding(_ giveUp: () async throws -> Void) async throws -> Int {
        guard let outbox = station?.outbox else {
            try await giveUp()
            return 0
        }
        let before = await outbox.status().dropped.formerIdentity
        try await giveUp()
        _ = try? await outbox.clear()
        return await outbox.status().dropped.formerIdentity - before
    }

    // MARK: At the broker

    /// Stays at the broker for as long as the identity is the same.
    private func stay(as device: String) async throws {
        let changes = session.events.subscribe()
        // It may have gone before the subscription.
        guard try await session.status().registration == .registered else { return }
        let station = try await Station(
            device: device, session: session, gateway: gateway, settings: agent.configuration,
            outboxIsSuspect: outboxFault?.isDamageOfOutbox == true)
        outboxFault = nil
        self.station = station
        settle()
        let ending: Result<Void, any Error>
        do {
            ending = .success(try await work(at: station, until: changes))
        } catch {
            ending = .failure(error)
        }
        self.station = nil
        station.subscriptions.end()
        // A registration that the gateway withdrew keeps the device identifier, and so its messages.
        if let now = try? await session.status(), now.deviceID != device { _ = try? await station.outbox.clear() }
        await station.outbox.close()
        try ending.get()
    }

    private func work(at station: Station, until changes: AsyncStream<GatewayEvent>) async throws {
        let outbox = await station.outbox.status()
        if let path = outbox.setAside {
            agent.report(.own(.outboxSetAside(path: path, rescued: outbox.rescued)))
        }
        let former = await station.outbox.droppedAtOpening
        if former > 0 {
            agent.report(.outbox(.dropped(count: former, .formerIdentity, total: outbox.dropped.formerIdentity)))
        }
        await publishLatest()
        // Subscribed before anything runs.
        let (connection, refusals, drops) = (
            station.messenger.events.subscribe(), station.messenger.events.subscribe(),
            station.outbox.events.subscribe()
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [agent] in
                for await event in connection {
                    if case .connected = event { agent.time.confirm() }
                    agent.report(.broker(event))
                }
            }
            group.addTask { [agent] in for await event in drops { agent.report(.outbox(event)) } }
            group.addTask { try await station.messenger.run() }
            group.addTask { [session] in try await Self.dropRefusedTokens(of: session, refusals) }
            group.addTask { [session] in try await Self.keepCertificate(of: session) }
            group.addTask { await Self.identityChange(in: changes) }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// What was measured before there was anyone to send it to counts as sent for the poller: without this a steady sensor
    /// would be silent until its greatest interval is over.
    private func publishLatest() async {
        let readings = await agent.board.poller.latest()
        guard agent.configuration.telemetry.enabled, !readings.isEmpty else { return }
        do {
            try await agent.publishTelemetry(SampleSet(time: agent.time.now, readings: readings).payload())
        } catch {
            // As with any telemetry: the outbox counts and shows what it did not take.
            agent.logger.debug("telemetry was not accepted: \(error)")
        }
    }

    /// A broker that refuses the token has its reasons: the next connection takes a new one.
    private static func dropRefusedTokens(of session: GatewaySession, _ events: AsyncStream<MessengerEvent>)
        async throws
    {
        for await event in events {
            guard case .refused(let refusal) = event, refusal.concernsCredentials else { continue }
            try await session.dropAccessToken()
        }
    }

    /// Renewal has a window of days; twice a day is often enough to look.
    private static func keepCertificate(of session: GatewaySession) async throws {
        while true {
            try await Task.sleep(for: .seconds(12 * 3600))
            // What fails is told by the session, and tried again by the next use.
            try? await session.ready()
        }
    }

    /// Returns when the registration came or went.
    private static func identityChange(in events: AsyncStream<GatewayEvent>) async {
        for await event in events {
            switch event {
            case .deviceDidRegister, .deviceDidActivate, .deviceDidDeregister, .deviceDidResetLocally,
                .registrationDidDrop:
                return
            default: continue
            }
        }
    }
}

extension GatewayError {
    /// Whether trying again without a person could never help.
    var needsPerson: Bool {
        switch self {
        case .notRegistered, .registrationWithdrawn, .deviceRecordInvalid, .noGrantApplies: true
        default: false
        }
    }
}

extension MessagingError {
    /// Whether the outbox has to be checked as a whole before it is used again.
    fileprivate var isDamageOfOutbox: Bool {
        if case .outboxUnusable(let error) = self { error.isDamage } else { false }
    }
}
