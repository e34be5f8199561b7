import CMosquitto
import FoundationEssentials
import Groundwork
import Storage

/// Keeps a connection to a broker: sends what the outbox holds, in order, and hands out what comes in.
///
///     let messenger = Messenger(address: broker, outbox: outbox) { try await freshCredentials() }
///     let mine = try await messenger.subscribe(topics.ownFilter)
///     async let _ = messenger.run()
///     for await delivery in mine { … }
///
/// MQTT 3.1.1. Every connection is a new one with new credentials; what was under way when one ended is sent again on the
/// next by the outbox, so every message of ``QoS/atLeastOnce`` arrives. One that the broker answers by hanging up becomes a
/// dead letter of the outbox (``SendPace``), and the others go on.
///
/// Runs on the outbox's thread, which has its part in all that is sent: one message wakes no thread twice for the two.
public actor Messenger {
    public nonisolated var unownedExecutor: UnownedSerialExecutor { NamedThread.storage.asUnownedSerialExecutor() }

    public nonisolated let address: BrokerAddress
    public nonisolated let events = Broadcast<MessengerEvent>()
    public nonisolated let outbox: Outbox
    public nonisolated let settings: MessengerSettings

    /// The system's libmosquitto.
    public static var libraryVersion: String {
        var (major, minor, revision): (Int32, Int32, Int32) = (0, 0, 0)
        mosquitto_lib_version(&major, &minor, &revision)
        return "\(major).\(minor).\(revision)"
    }

    private let credentials: @Sendable () async throws -> BrokerCredentials
    let inbox: Inbox

    // What is told.
    private var state = MessengerStatus.State.stopped
    private var since = Date()
    private var attempts = 0
    private var lastError: MessagingError?
    private var sent = 0
    private var acknowledged = 0

    // The present connection.
    var connection: Connection?
    /// Whether the broker has accepted it.
    var isOpen = false
    private var pause: Task<Void, Never>?
    private var reconnectsAtOnce = false
    /// What the broker's session holds, as far as it was told by this messenger.
    var established: Set<TopicFilter> = []
    var awaitedAnswers: [TopicFilter: [CheckedContinuation<Bool, Never>]] = [:]
    private var pace: SendPace

    /// - Parameter credentials: asked before each attempt to connect; what it throws counts as a failed attempt.
    public init(
        address: BrokerAddress, outbox: Outbox, settings: MessengerSettings = MessengerSettings(),
        credentials: @escaping @Sendable () async throws -> BrokerCredentials
    ) {
        self.address = address
        self.outbox = outbox
        self.settings = settings
        self.credentials = credentials
        inbox = Inbox(payloadLimit: settings.payloadLimit)
        pace = SendPace(limit: min(max(settings.window, 1), 1000))
    }

    public func status() async -> MessengerStatus {
        let counts = inbox.counts
        return MessengerStatus(
            state: state, since: since, broker: address, attempts: attempts, lastError: lastError,
            outbox: await outbox.status(), sent: sent, acknowledged: acknowledged, received: counts.received,
            unclaimed: counts.unclaimed, oversized: counts.oversized)
    }

    /// Ends the present connection, or the pause between two, and connects anew with fresh credentials.
    public func reconnect() {
        reconnectsAtOnce = true
        connection?.tell(.close(announcing: false))
        pause?.cancel()
    }

    /// Connects, and again whenever the connection is lost, until the task is cancelled; then says goodbye to the broker and
    /// returns.
    ///
    /// - Throws: ``MessagingError/alreadyRunning``
    public func run() async throws(MessagingError) {
        guard state == .stopped else { throw .alreadyRunning }
        var backoff = settings.backoff
        attempts = 0
        while !Task.isCancelled {
            attempts += 1
            become(.connecting)
            events.send(.connecting(address, attempt: attempts))
            let acknowledgedBefore = acknowledged
            let opened = await connect()
            if case .failed(.outboxUnusable(let fault), _) = opened.ending, fault.isDamage {
                // Only another outbox helps, which is for the owner to open.
                become(.stopped)
                throw .outboxUnusable(fault)
            }
            if case .failed(let error, _) = opened.ending {
                // What moves on is not held up for long, however often it breaks.
                if acknowledged > acknowledgedBefore { backoff.reset() }
                if let start = opened.at, ContinuousClock.now - start >= settings.steadyAfter { backoff.reset() }
                await rest(after: error, for: backoff.next())
            } else {
                events.send(.disconnected(address))
            }
        }
        become(.stopped)
    }

    /// One connection from its credentials to its end.
    private func connect() async -> (ending: Mailbox.Ending, at: ContinuousClock.Instant?) {
        reconnectsAtOnce = false
        let order: ConnectionOrder
        do {
            order = ConnectionOrder(
                address: address, credentials: try await credentials(), keepAlive: settings.keepAlive,
                timeout: settings.connectTimeout, cleanSession: settings.cleanSession,
                presenceTopic: settings.presenceTopic, window: pace.limit)
        } catch {
            let why = Explanation(of: error)
            return (Task.isCancelled ? .closed : .failed(.credentialsUnavailable(why), loss: nil), nil)
        }
        guard !Task.isCancelled, !reconnectsAtOnce else { return (.closed, nil) }
        let mailbox = Mailbox()
        let connection = Connection(order, inbox: inbox, mailbox: mailbox)
        self.connection = connection
        var openedAt: ContinuousClock.Instant?
        // What waits goes on on the thread that it prefers, and only then on its actor's.
        let ending = await withTaskExecutorPreference(NamedThread.storage.tasks) {
            await serve(connection, mailbox) { openedAt = .now }
        }
        self.connection = nil
        isOpen = false
        answerAll()
        if case .failed(let error, let loss?) = ending { await learn(from: loss, error) }
        // What was under way waits again; where this fails, so does the next connection's beginning.
        try? await outbox.rewind(arrival: nil)
        return (ending, openedAt)
    }

    private func learn(from loss: Mailbox.Loss, _ error: MessagingError) async {
        guard let id = pace.connectionEnded(with: loss) else { return }
        // Where it cannot be written, the message is sent, and found, again.
        try? await outbox.bury(id, because: "each time it was sent alone, \(error.message)")
    }

    private func serve(_ connection: Connection, _ mailbox: Mailbox, opened: () -> Void) async -> Mailbox.Ending {
        var window = SendWindow(limit: pace.window)
        var done: [Int64] = []
        var isProven = false
        while let news = await mailbox.next() {
            do throws(MessagingError) {
                if let sessionPresent = news.opened {
                    opened()
                    open(connection, sessionPresent: sessionPresent)
                    try await outbox.rewind { mailbox.post { $0.hasArrivals = true } }
                }
                for answer in news.answers { self.answer(answer.filter, granted: answer.granted) }
                for id in news.acknowledged { window.complete(id) }
                done += news.acknowledged
                acknowledged += news.acknowledged.count
                pace.acknowledge(news.acknowledged)
                window.limit = pace.window
                for id in news.unsendable {
                    window.complete(id)
                    try await outbox.discard(id)
                }
                isProven = isProven || news.isProven
                if isOpen, news.ending == nil, isProven || !pace.isCautious {
                    try await send(over: connection, &window, &done)
                } else if !done.isEmpty {
                    _ = try await outbox.next(limit: 0, bytes: 0, acknowledging: done)
                    done = []
                }
            } catch {
                connection.tell(.close(announcing: false))
                _ = await mailbox.last()
                return .failed(error, loss: nil)
            }
            if let ending = news.ending { return ending }
        }
        return await end(connection, mailbox, done)
    }

    /// Sends what may be sent, and gives the outbox the acknowledgements.
    private func send(
        over connection: Connection, _ window: inout SendWindow, _ done: inout [Int64]
    ) async throws(MessagingError) {
        while window.room > 0 || !done.isEmpty {
            let finished = done
            done = []
            let limit = window.room
            let page = try await outbox.next(limit: limit, bytes: window.byteRoom, acknowledging: finished)
            window.add(page.messages)
            push(&window, over: connection)
            if page.isLast { break }
        }
        push(&window, over: connection)
    }

    private func push(_ window: inout SendWindow, over connection: Connection) {
        let ready = window.ready()
        guard !ready.isEmpty else { return }
        sent += ready.count
        connection.tell(.publish(ready))
    }

    /// After a cancellation.
    private func end(_ connection: Connection, _ mailbox: Mailbox, _ done: [Int64]) async -> Mailbox.Ending {
        connection.tell(.close(announcing: true))
        guard isOpen else {
            // It may still be looking up the host; nobody has to wait for that.
            return .closed
        }
        let last = await mailbox.last()
        acknowledged += last.acknowledged.count
        _ = try? await outbox.next(limit: 0, bytes: 0, acknowledging: done + last.acknowledged)
        return .closed
    }

    // MARK: State

    private func open(_ connection: Connection, sessionPresent: Bool) {
        isOpen = true
        attempts = 0
        lastError = nil
        become(.connected)
        restoreSubscriptions(over: connection, sessionPresent: sessionPresent)
        events.send(.connected(address, sessionPresent: sessionPresent))
    }

    private func rest(after error: MessagingError, for delay: Duration) async {
        lastError = error
        if case .refused(_, let refusal) = error, refusal.concernsCredentials { events.send(.refused(refusal)) }
        guard !reconnectsAtOnce else { return }
        become(.waiting)
        events.send(.failed(error, retryAfter: delay))
        let pause = Task { _ = try? await Task.sleep(for: delay) }
        self.pause = pause
        await withTaskCancellationHandler {
            await pause.value
        } onCancel: {
            pause.cancel()
        }
        self.pause = nil
    }

    private func become(_ state: MessengerStatus.State) {
        guard state != self.state else { return }
        self.state = state
        since = Date()
    }
}
