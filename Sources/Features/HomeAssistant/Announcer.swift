import AgentCore
import AgentMessages
import Board
import FoundationEssentials
import Groundwork
import Messaging

/// Tells Home Assistant what this board has, at each connection to the broker and when that changes, and obeys its
/// commands.
actor Announcer {
    private let host: Host
    private let broker: BoardBroker
    private let kept: AnnouncedTopics
    /// One thing after the other: announcements leave in the order in which they were made.
    private let turn = AsyncMutex()
    private var visit: Visit?
    /// Read what Home Assistant says during the visit.
    private var listeners: [Task<Void, Never>] = []
    /// Reads what the broker had kept.
    private var reader: Task<Void, Never>?
    /// When the connection began that was announced at last.
    private var connection: Date?
    /// The newest message that was published.
    private(set) var announced: DiscoveryMessage?
    private var announcedSensors: PresentSensors?
    /// Optional sensors that an earlier run of the agent has announced: they do not vanish while they do not respond.
    private var formerNames: Set<String> = []
    private var command: LEDCommand?
    private var allowance = AnnouncementAllowance()

    init(_ host: Host, _ broker: BoardBroker) {
        self.host = host
        self.broker = broker
        kept = AnnouncedTopics(in: host.settings.stateDirectory)
    }

    private var isEnabled: Bool { host.settings.homeAssistant.enabled }

    /// Whether there is something to announce or to withdraw.
    nonisolated var hasWork: Bool { host.settings.homeAssistant.enabled || !kept.all.isEmpty }

    /// Until canceled.
    func run(_ events: AsyncStream<AgentEvent>, _ samples: AsyncStream<SampleSet>) async {
        await withTaskGroup(of: Void.self) { group in
            // The connection may be older than the subscription to its events.
            group.addTask { await self.inTurn { try await self.didConnect() } }
            group.addTask { for await event in events { await self.take(event) } }
            group.addTask { for await _ in samples { await self.inTurn { try await self.announceChanges() } } }
        }
        endVisit()
    }

    private func endVisit() {
        visit = nil
        reader?.cancel()
        for listener in listeners { listener.cancel() }
        listeners = []
    }

    private func inTurn(_ work: () async throws -> Void) async {
        await turn.lock()
        defer { turn.unlock() }
        do {
            try await work()
        } catch {
            guard !Task.isCancelled else { return }
            host.report(HomeAssistantEvent.failed(reason: Explanation(of: error).message), of: broker.account)
        }
    }

    private func take(_ event: AgentEvent) async {
        if let messenger = event.ofBoard(MessengerEvent.self, at: broker.account) {
            switch messenger {
            case .connected: await inTurn { try await didConnect() }
            // So that the LED shows that the connection is lost.
            case .failed, .disconnected: host.lights.show(nil, .command)
            case .connecting, .refused, .subscriptionRefused: break
            }
        } else if case .pressed = event.ofBoard(ButtonEvent.self, at: nil) {
            await inTurn { try await publishPress() }
        }
    }

    // MARK: At the broker

    /// The broker session, if it has a connection, and since when.
    private func connected() async -> (session: BrokerSession, since: Date)? {
        guard let session = await broker.brokerSession else { return nil }
        let status = await session.messenger.status()
        return status.state == .connected ? (session, status.since) : nil
    }

    private func didConnect() async throws {
        guard let (session, since) = await connected(), since != connection else { return }
        guard isEnabled else { return try await withdraw(kept.all, at: session) }
        let board = try AnnouncedBoard(host, at: session)
        let visit = try await begin(at: session, as: board)
        connection = since
        let topics = board.kept(hasLED: host.board.led != nil)
        try await withdraw(kept.all.filter { !topics.contains($0) }, at: session)
        try kept.remember(topics)
        // Asked for before the announcement replaces it.
        let former = try? await session.messenger.subscribe(TopicFilter(board.topic), bound: 4)
        let isNew = announced == nil
        let message = try await announce(visit)
        if host.board.led != nil {
            host.lights.show(command?.pattern, .command)
            try await publishState(visit)
        }
        if isNew { await publishReadings() }
        reader?.cancel()
        guard let former else { return }
        reader = Task { await self.readBack(former, message, visit) }
    }

    /// Subscribes to what Home Assistant says, once for each broker session.
    private func begin(at session: BrokerSession, as board: AnnouncedBoard) async throws -> Visit {
        if let visit, visit.session.messenger === session.messenger { return visit }
        endVisit()
        let visit = Visit(session, board)
        self.visit = visit
        announced = nil
        let births = try await visit.listen(to: board.statusTopic, bound: 1) { message in
            guard !message.retained, message.payload == Array("online".utf8) else { return }
            await self.welcome(visit)
        }
        if let births { listeners.append(births) }
        guard host.board.led != nil else { return visit }
        // One command after the other; of many in a row the last counts.
        let commands = try await visit.listen(to: board.ledCommandTopic, bound: 1) { message in
            guard !message.retained, let command = LEDCommand(message.payload) else { return }
            await self.take(command, visit)
        }
        if let commands { listeners.append(commands) }
        return visit
    }

    private func welcome(_ visit: Visit) async { await inTurn { try await announceAgain(visit) } }

    private func take(_ command: LEDCommand, _ visit: Visit) async { await inTurn { try await obey(command, visit) } }

    // MARK: Announcing

    private func presentSensors() async -> PresentSensors {
        PresentSensors(
            responded: formerNames.union(await host.board.poller.latest().map(\.name)),
            handed: host.board.handed.all().map { .init(name: $0.sensor, unit: $0.unit) })
    }

    private func message(_ board: AnnouncedBoard, _ sensors: PresentSensors) -> DiscoveryMessage {
        let entities = board.entities(
            of: host.board.definition, sensors, sendsReadings: host.settings.telemetry.enabled)
        return DiscoveryMessage(board.device, entities, limit: host.settings.outbox.payloadLimitBytes)
    }

    @discardableResult
    private func announce(_ visit: Visit) async throws -> DiscoveryMessage {
        let sensors = await presentSensors()
        let message = message(visit.board, sensors)
        try await publish(message.entities.isEmpty ? [] : message.payload, at: visit.board.topic, visit)
        let isChanged = message != announced
        (announced, announcedSensors) = (message, sensors)
        guard isChanged else { return message }
        host.report(
            HomeAssistantEvent.announced(
                entities: message.entities.count, leftOut: message.leftOut, topic: visit.board.topic.name),
            of: broker.account)
        return message
    }

    private func announceChanges() async throws {
        // Asked with every sample.
        guard let visit, let announced, await presentSensors() != announcedSensors, await connected() != nil else {
            return
        }
        if try await replace(FormerEntities(announced.entities), visit) { await publishReadings() }
    }

    /// Home Assistant has started: it has no readings either.
    private func announceAgain(_ visit: Visit) async throws {
        guard visit === self.visit, allowance.takes(at: .now) else { return }
        try await announce(visit)
        await publishReadings()
    }

    /// Removes the entities that are not there any more, and announces the others.
    ///
    /// - Returns: `false` if there was nothing to change.
    @discardableResult
    private func replace(_ former: FormerEntities, _ visit: Visit) async throws -> Bool {
        let sensors = await presentSensors()
        let next = message(visit.board, sensors)
        let gone = former.gone(from: next.entities)
        if !gone.isEmpty {
            let removal = next.payload(removing: gone, limit: host.settings.outbox.payloadLimitBytes)
            try await publish(removal, at: visit.board.topic, visit)
        }
        let isChanged = !gone.isEmpty || next != announced
        if isChanged { try await announce(visit) } else { announcedSensors = sensors }
        return isChanged
    }

    /// Compares the message that the broker had kept with the present one.
    ///
    /// - Parameter message: the announcement of this connection; when the broker sends that back, it had kept none.
    private func readBack(_ kept: Subscription, _ message: DiscoveryMessage, _ visit: Visit) async {
        for await delivery in kept {
            for former in delivery.messages {
                guard former.retained else {
                    if former.payload == message.payload { return }
                    continue
                }
                guard former.payload != message.payload,
                    let entities = FormerEntities(parsing: former.payload, of: visit.board.device.id)
                else { return }
                await inTurn {
                    guard visit === self.visit else { return }
                    let names = Set(entities.platforms.keys.compactMap(Entity.sensorName))
                    formerNames.formUnion(names.intersection(host.board.definition.sensors.map(\.name)))
                    try await replace(entities, visit)
                }
                return
            }
        }
    }

    // MARK: Publishing

    private func publish(_ payload: [UInt8], at topic: Topic, retain: Bool = true, _ visit: Visit) async throws {
        _ = try await visit.session.accept([OutgoingMessage(topic: topic, payload: payload, retain: retain)])
    }

    /// Home Assistant takes no reading of an entity that it does not know yet.
    private func publishReadings() async {
        await broker.publish(SampleSet(time: host.time.now, readings: await host.board.latest()))
    }

    /// A press that could not be sent at once is not sent later: it would start something long after the press.
    private func publishPress() async throws {
        guard let visit, isEnabled, await connected() != nil else { return }
        try await publish(Entity.pressed.bytes, at: visit.board.buttonTopic, retain: false, visit)
    }

    private func obey(_ command: LEDCommand, _ visit: Visit) async throws {
        guard visit === self.visit else { return }
        self.command = command
        host.lights.show(command.pattern, .command)
        try await publishState(visit)
    }

    /// Before the first command the LED is on, as the board is connected.
    private func publishState(_ visit: Visit) async throws {
        let state = command ?? .on
        try await publish(Array(state.rawValue.utf8), at: visit.board.ledTopic, visit)
    }

    private func withdraw(_ topics: [Topic], at session: BrokerSession) async throws {
        guard !topics.isEmpty else { return }
        _ = try await session.accept(topics.map { OutgoingMessage(topic: $0, payload: [], retain: true) })
        try kept.forget()
        host.report(HomeAssistantEvent.withdrawn(topics: topics.map(\.name)), of: broker.account)
    }
}
