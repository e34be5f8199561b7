import Board
import Cryptography
import FoundationEssentials
import Gateway
import Groundwork
import HTTPClient
import Logging
import Messaging
import Proximity
import Vault

/// The agent: what is shared by its services, and what the local API asks for.
public actor Agent {
    nonisolated let configuration: AgentConfiguration
    nonisolated let vault: Vault
    nonisolated let client: HTTPClient
    nonisolated let gateways: Gateways
    nonisolated let time: BestKnownTime
    nonisolated let board: BoardParts
    nonisolated let nearby: Nearby
    nonisolated let browserLogIns = BrowserLogIns()
    private nonisolated let reporter: EventReporter
    nonisolated let logger: Logger
    nonisolated let started = ContinuousClock.now

    /// What belongs to the active gateway; `nil` before the board is enrolled.
    private(set) var link: Link?
    private var linkTask: Task<Void, Never>?
    /// Changes of the active gateway, one at a time: two links to one gateway would take each other's place at the broker.
    private nonisolated let gatewayChange = AsyncMutex()

    init(
        configuration: AgentConfiguration, vault: Vault, client: HTTPClient, gateways: Gateways, time: BestKnownTime,
        board: BoardParts, logger: Logger
    ) {
        self.configuration = configuration
        self.vault = vault
        self.client = client
        self.gateways = gateways
        self.time = time
        self.board = board
        self.logger = logger
        let reporter = EventReporter(logger)
        self.reporter = reporter
        nearby = Nearby(configuration, deviceName: configuration.gateway.shownDeviceName) { error in
            reporter.report(AgentEvent(.own(.auditFailed(error)), at: time.now))
        }
    }

    // MARK: Events

    nonisolated var events: Broadcast<AgentEvent> { reporter.events }

    /// Tells subscribers and the log.
    nonisolated func report(_ event: AgentEvent) { reporter.report(event) }

    /// Tells them of what happens now.
    nonisolated func report(_ source: AgentEvent.Source) { report(AgentEvent(source, at: time.now)) }

    /// The newest event that a person should look at: until something ends it, or a day has passed.
    nonisolated var lastTrouble: AgentEvent? {
        guard let trouble = reporter.lastTrouble else { return nil }
        return time.now.timeIntervalSince(trouble.time) < AgentEvent.shownSeconds ? trouble : nil
    }

    // MARK: The active gateway

    /// Goes on with the gateway that was active when the agent last ran.
    ///
    /// When what is stored of it cannot be used, the agent says so and is as good as not enrolled: it can be enrolled again.
    func resume() async {
        await gatewayChange.lock()
        defer { gatewayChange.unlock() }
        do {
            if let active = try await gateways.active() { try await connect(to: active) }
        } catch {
            report(.own(.configurationUnusable(error)))
        }
    }

    /// Takes a configuration as the active one and registers there.
    ///
    /// - Returns: the status, once the board is registered or awaits activation.
    /// - Throws: why the configuration could not be taken, or why the registration failed. After the latter the configuration
    ///   is the active one, and the link goes on trying.
    /// - Parameter registers: whether to register at once, by the client's own credentials; else the board waits for whoever
    ///   logs in on it.
    func enroll(_ gateway: GatewayConfiguration, registers: Bool = true) async throws -> GatewayStatus {
        let session = try await activate(gateway, registers: registers)
        guard registers else { return try await session.status() }
        do {
            try await session.register()
        } catch {
            let status = try await session.status()
            guard status.registration != .unregistered else { throw error }
            // Something after the registration failed; the session has told of it, and the link goes on trying.
            return status
        }
        return try await session.status()
    }

    private func activate(_ gateway: GatewayConfiguration, registers: Bool) async throws -> GatewaySession {
        await gatewayChange.lock()
        defer { gatewayChange.unlock() }
        try await gateways.activate(gateway)
        if let link, link.gateway == gateway, try await link.session.status().registration == .registered {
            // Enrolled where it is registered already: what stands, stays.
            return link.session
        }
        return try await connect(to: gateway, registers: registers)
    }

    /// Only by the holder of ``gatewayChange``.
    @discardableResult
    private func connect(to gateway: GatewayConfiguration, registers: Bool = true) async throws -> GatewaySession {
        await disconnect()
        killPoint("switch-disconnected")
        let session = GatewaySession(
            configuration: gateway, vault: vault, client: client, board: deviceDescription,
            renewDays: configuration.gateway.renewDays, clock: { [time] in time.now })
        if !registers { try await session.waitForPerson() }
        let link = Link(session: session, gateway: gateway, agent: self)
        self.link = link
        linkTask = Task { await link.run() }
        return session
    }

    /// Ends the connection to the broker and everything else of the active gateway for good; nothing stored is lost.
    func close() async {
        await gatewayChange.lock()
        // Never unlocked: whoever waits for it would connect again.
        await disconnect()
    }

    /// Only by the holder of ``gatewayChange``.
    private func disconnect() async {
        await nearby.stopSharing(by: .agent)
        linkTask?.cancel()
        await linkTask?.value
        linkTask = nil
        link = nil
    }

    /// - Throws: ``AgentError/notEnrolled``
    func activeLink() throws(AgentError) -> Link {
        guard let link else { throw .notEnrolled }
        return link
    }

    /// - Throws: ``AgentError/notEnrolled``, `GatewayError.notRegistered`, `GatewayError.awaitingActivation`, or why the outbox
    ///   of a registered board cannot be opened.
    func activeStation() async throws -> Station {
        let link = try activeLink()
        if let station = await link.settledStation() { return station }
        if let fault = await link.outboxFault { throw fault }
        let status = try await link.session.status()
        throw status.registration == .pending
            ? status.magIdentifier.map(GatewayError.awaitingActivation) ?? .notRegistered
            : .notRegistered
    }

    /// The name that people call this board by.
    nonisolated var deviceName: String { configuration.gateway.shownDeviceName }

    private nonisolated var deviceDescription: DeviceDescription {
        DeviceDescription(name: deviceName, model: board.model ?? board.definition.title)
    }

    // MARK: Telemetry

    /// Hands a telemetry message to the outbox of the active gateway. Without one there is nobody to send it to.
    func publishTelemetry(_ payload: [UInt8]) async throws {
        guard let station = await link?.station else { return }
        _ = try await station.outbox.accept(
            OutgoingMessage(
                topic: try station.topics.custom(configuration.telemetry.topic), payload: payload,
                qos: QoS(requested: configuration.telemetry.qos) ?? .atLeastOnce, kind: .telemetry))
    }
}
