import FoundationEssentials
import Groundwork
import Storage

/// Keeps a connection to a broker: sends the messages of the outbox in order, and delivers incoming ones.
///
///     let messenger = Messenger(address: broker, outbox: outbox) { try await freshCredentials() }
///     let mine = try await messenger.subscribe(topics.ownFilter)
///     async let _ = messenger.run()
///     for await delivery in mine { … }
///
/// MQTT 3.1.1. Every connection is a new one with new credentials; messages in flight when one ends are sent again on
/// the next, so every message of ``QoS/atLeastOnce`` arrives. A message that the broker answers by hanging up becomes
/// a dead letter of the outbox (``SendPace``), and the others proceed.
///
/// Runs on the outbox's thread, which takes part in every send: a message does not wake two threads.
public final actor Messenger {
    public nonisolated var unownedExecutor: UnownedSerialExecutor { NamedThread.storage.asUnownedSerialExecutor() }

    /// The brokers. The first is preferred.
    public nonisolated let addresses: [BrokerAddress]
    public nonisolated var address: BrokerAddress { addresses[0] }
    public nonisolated let events = Broadcast<MessengerEvent>()
    /// What the envelopes of incoming messages say, and what the broker reports.
    public nonisolated var messages: Broadcast<MessageEvent> { inbox.events }
    public nonisolated let outbox: Outbox
    public nonisolated let settings: MessengerSettings

    /// The system's libmosquitto.
    public static var libraryVersion: String { MosquittoClient.libraryVersion }

    let credentials: @Sendable (BrokerAddress) async throws -> BrokerCredentials
    let inbox: Inbox

    // Reported by ``status()``.
    var state = MessengerStatus.State.stopped
    var since = Date()
    var attempts = 0
    var lastError: MessagingError?
    private var acknowledged = 0

    var choice: BrokerChoice
    /// Why the first broker is not used.
    var preferredError: MessagingError?
    /// Which broker ``established`` and ``ending`` are about; those of the others.
    var sessionIndex = 0
    var sessions: [Int: (established: Set<TopicFilter>, ending: Set<TopicFilter>)] = [:]

    // The present connection.
    /// Of the newest attempt.
    var proxy: BrokerProxy?
    var connection: BrokerConnection?
    /// Whether the broker has accepted it.
    var isOpen = false
    var pause: Task<Void, Never>?
    var reconnectsAtOnce = false
    /// Whether the delays between attempts begin with the first one again.
    private var startsAnew = false
    /// This side's address of the present connection: 4 or 16 bytes.
    public private(set) var localAddress: [UInt8]?
    /// The subscriptions of the broker's session that this messenger knows of.
    var established: Set<TopicFilter> = []
    /// Those of them that a connection has asked the broker to end, which has not answered.
    var ending: Set<TopicFilter> = []
    var awaitedAnswers: [TopicFilter: [CheckedContinuation<Bool, Never>]] = [:]
    var pace: SendPace
    private(set) var streak = EndingStreak()
    /// When it is tried next whether messages for inboxes can be kept again.
    private var roomDue = ContinuousClock.now

    /// With one broker.
    public init(
        address: BrokerAddress, outbox: Outbox, inboxes: InboxStore? = nil,
        settings: MessengerSettings = MessengerSettings(),
        credentials: @escaping @Sendable () async throws -> BrokerCredentials
    ) {
        self.init(addresses: [address], outbox: outbox, inboxes: inboxes, settings: settings) { _ in
            try await credentials()
        }
    }

    /// - Parameters:
    ///   - addresses: at least one; where the first cannot be reached, the next is used until it can.
    ///   - inboxes: what is subscribed to at every connection, and on the disk before it is acknowledged.
    ///   - credentials: called before each attempt to connect; if it throws, the attempt has failed.
    public init(
        addresses: [BrokerAddress], outbox: Outbox, inboxes: InboxStore? = nil,
        settings: MessengerSettings = MessengerSettings(),
        credentials: @escaping @Sendable (BrokerAddress) async throws -> BrokerCredentials
    ) {
        precondition(!addresses.isEmpty)
        self.addresses = addresses
        choice = BrokerChoice(of: addresses.count)
        self.outbox = outbox
        self.settings = settings
        self.credentials = credentials
        inbox = Inbox(payloadLimit: settings.payloadLimit, standing: inboxes, reportTopic: settings.reportTopic)
        // The broker still sends for those that were given up while no connection could say so.
        established = inboxes?.formerFilters ?? []
        ending = established
        pace = SendPace(limit: min(max(settings.window, 1), 1000))
    }

    public func status() async -> MessengerStatus {
        let counts = inbox.counts
        return MessengerStatus(
            state: state, since: since, broker: broker, proxy: proxy?.description, isPreferred: choice.isPreferred,
            preferredError: choice.isPreferred ? nil : preferredError, attempts: attempts,
            lastError: presentError,
            inboxFault: inbox.standing?.obstacle, outbox: await outbox.status(), sent: await outbox.sent,
            acknowledged: acknowledged,
            received: counts.received, unclaimed: counts.unclaimed, oversized: counts.oversized,
            reports: counts.reports, lastReport: counts.lastReport)
    }

    /// Ends the present connection, or the pause before the next, and reconnects with fresh credentials.
    public func reconnect() { reconnect(announcing: false) }

    func reconnect(announcing: Bool) {
        reconnectsAtOnce = true
        connection?.send(.close(announcing: announcing))
        pause?.cancel()
    }

    /// Adapts to a change of the network: a connection that nothing can carry any more is given up, and one that could
    /// not be made is tried at once.
    ///
    /// - Parameters:
    ///   - hasReturned: whether there is a network that was not there, or another one.
    ///   - carries: whether a connection from this address can still carry anything.
    public func adapt(hasReturned: Bool, carries: @Sendable ([UInt8]) -> Bool) {
        if isOpen {
            if let localAddress, !carries(localAddress) { reconnect() }
        } else if hasReturned {
            startsAnew = true
            reconnect()
        }
    }

    /// Connects, and reconnects whenever the connection is lost, until the task is canceled; then disconnects in
    /// order and returns.
    ///
    /// - Throws: ``MessagingError/alreadyRunning``
    public func run() async throws(MessagingError) {
        guard state == .stopped else { throw .alreadyRunning }
        var backoff = settings.backoff
        attempts = 0
        while !Task.isCancelled {
            if startsAnew { backoff.reset() }
            startsAnew = false
            attempts += 1
            become(.connecting)
            let broker = broker
            events.send(.connecting(broker, attempt: attempts))
            let acknowledgedBefore = acknowledged
            let opened = await connect()
            if case .failed(.outboxUnusable(let fault), _) = opened.ending, fault.isDamage {
                // Only another outbox helps, and only the caller can open one.
                become(.stopped)
                throw .outboxUnusable(fault)
            }
            if case .failed(let ending, _) = opened.ending {
                let error = suspected(ending)
                await outbox.refuseHeld(because: error)
                // A connection that makes progress is retried soon, however often it breaks.
                var isSteady = acknowledged > acknowledgedBefore || opened.setsAside
                if let start = opened.at, ContinuousClock.now - start >= settings.steadyAfter { isSteady = true }
                // But two that end each other's connections must not do so for ever at this pace.
                if isSteady, streak.suspicion == nil { backoff.reset() }
                if case .inboxUnusable = error {
                    // The next connection does without the inboxes, so it need not wait.
                    backoff.reset()
                    roomDue = .now + settings.roomCheck
                }
                let goesOn = opened.at == nil && failsOver(after: error)
                let delay = goesOn ? .zero : max(backoff.next(), settings.leastDelay())
                await pauseBeforeRetry(after: error, for: delay)
            } else {
                events.send(.disconnected(broker))
            }
        }
        become(.stopped)
    }

    /// One connection from its credentials to its end.
    ///
    /// - Returns: `setsAside` is whether a message was that the broker does not take.
    private func connect() async -> (ending: ConnectionEnding, at: ContinuousClock.Instant?, setsAside: Bool) {
        reconnectsAtOnce = false
        enterSession()
        if let inboxes = inbox.standing {
            // Of a file that was opened late.
            let late = inboxes.formerFilters.subtracting(established)
            established.formUnion(late)
            ending.formUnion(late)
        }
        var order: ConnectionOrder
        do throws(MessagingError) {
            order = try await self.order()
        } catch {
            return (Task.isCancelled ? .closed : .failed(error, loss: nil), nil, false)
        }
        guard !Task.isCancelled, !reconnectsAtOnce else { return (.closed, nil, false) }
        order.leavesInboxMessages = inbox.standing?.obstacle != nil
        let watch = order.leavesInboxMessages ? Task { await reconnectOnceThereIsRoom() } : nil
        let returning = choice.isPreferred ? nil : Task { await returnOnceFirstAnswers() }
        defer {
            watch?.cancel()
            returning?.cancel()
        }
        let connection = BrokerConnection(order, inbox: inbox)
        self.connection = connection
        var openedAt: ContinuousClock.Instant?
        // Continuations resume on the preferred executor first: this one is the actor's own thread.
        let ending = await withTaskExecutorPreference(NamedThread.storage.tasks) {
            await serve(connection) { openedAt = .now }
        }
        self.connection = nil
        localAddress = nil
        isOpen = false
        resumeSubscribers()
        var setsAside = false
        if case .failed(let error, let loss) = ending {
            var isHangUp = false
            if case .connectionLost = error { isHangUp = true }
            streak.connectionEnded(after: openedAt.map { .now - $0 }, with: loss, isHangUp: isHangUp)
            // Where another client ends this one's connections, no message is to blame.
            if let loss, streak.suspicion != .rival { setsAside = await learn(from: loss, error) }
        }
        // Messages in flight wait again. If this fails, so does the rewind when the next connection opens.
        try? await outbox.rewind(arrival: nil)
        return (ending, openedAt, setsAside)
    }

    /// Ends a connection that leaves messages for inboxes to the broker once they can be kept: only on another one it
    /// sends them again.
    private func reconnectOnceThereIsRoom() async {
        while let inboxes = inbox.standing, (try? await Task.sleep(until: roomDue, clock: .continuous)) != nil {
            roomDue = .now + settings.roomCheck
            guard await inboxes.canKeepAgain() else { continue }
            if !Task.isCancelled { reconnect() }
            return
        }
    }

    private func serve(_ connection: BrokerConnection, opened: () -> Void) async -> ConnectionEnding {
        var isProven = false
        while let news = await connection.news() {
            do throws(MessagingError) {
                if let sessionPresent = news.opened {
                    opened()
                    localAddress = news.localAddress
                    open(connection, sessionPresent: sessionPresent)
                    if !sessionPresent { await inbox.standing?.forgetFormerFilters() }
                    try await outbox.begin { result in
                        switch result {
                        case .success(let messages): connection.send(.publish(messages))
                        case .failure(let fault): connection.post { $0.outboxFault = fault }
                        }
                    }
                }
                if let fault = news.outboxFault { throw fault }
                for (filter, answer) in news.answers { await note(answer, to: filter) }
                acknowledged += news.acknowledged.count
                pace.acknowledge(news.acknowledged)
                for id in news.unsendable { try await outbox.discard(id) }
                try await outbox.acknowledge(news.acknowledged)
                isProven = isProven || news.isProven
                if isOpen, news.ending == nil, isProven || !pace.isCautious {
                    try await outbox.send(atMost: pace.window)
                }
            } catch {
                connection.send(.close(announcing: false))
                // The ending comes once, and nothing after it.
                if news.ending == nil { _ = await connection.lastNews() }
                return .failed(error, loss: nil)
            }
            if let ending = news.ending { return ending }
        }
        return await end(connection)
    }

    /// After a cancellation.
    private func end(_ connection: BrokerConnection) async -> ConnectionEnding {
        // The broker would keep messages for subscriptions that are not continued.
        let continued = inbox.requestedFilters
        for filter in established where continued[filter] == nil { connection.send(.unsubscribe(filter)) }
        connection.send(.close(announcing: true))
        guard isOpen else {
            // It may still be resolving the host name; there is no need to wait for that.
            return .closed
        }
        let last = await connection.lastNews()
        acknowledged += last.acknowledged.count
        try? await outbox.acknowledge(last.acknowledged)
        return .closed
    }
}
