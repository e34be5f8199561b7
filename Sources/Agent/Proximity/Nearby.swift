import Bluetooth
import Gateway
import Groundwork
import Proximity

/// Proximity log-in of this board, from both sides, and the desk where people give their consent.
///
/// Bluetooth is begun with when somebody first needs it: a board without it does not pay for it.
actor Nearby {
    nonisolated let events = Broadcast<ProximityEvent>()
    nonisolated let desk: ConsentDesk
    nonisolated let audit: AuditLog

    private let bluetooth: BluetoothSettings
    private let settings: ProximitySettings
    private let deviceName: String
    private var transport: (any BluetoothTransport)?
    private var sharing: Sharing?

    private struct Sharing {
        let service: SharingService
        let task: Task<Void, Never>
        let term: SharingTerm
    }

    /// - Parameter onAuditFailure: told when a record could not be kept.
    init(
        _ configuration: AgentConfiguration, deviceName: String, onAuditFailure: @escaping @Sendable (AgentError) -> Void
    ) {
        bluetooth = configuration.bluetooth
        settings = configuration.proximity
        self.deviceName = deviceName
        let audit = AuditLog(directory: configuration.stateDirectory)
        self.audit = audit
        var desk = ConsentDesk.Settings()
        desk.patience = .seconds(configuration.proximity.consentSeconds)
        desk.requestsPerMinute = configuration.proximity.requestsPerMinute
        self.desk = ConsentDesk(settings: desk, events: events) { record in
            Task {
                do throws(AgentError) { try await audit.append(record) } catch { onAuditFailure(error) }
            }
        }
    }

    // MARK: Bluetooth

    private func radio() async -> any BluetoothTransport {
        if let transport { return transport }
        let made = await BluetoothChoice(preference: bluetooth.transport, adapter: bluetooth.adapter).makeTransport()
        // Another caller may have come here first.
        if let transport { return transport }
        transport = made
        return made
    }

    /// How the adapter stands.
    func adapter() async -> AdapterStatus { await radio().status() }

    // MARK: Letting others in

    var isSharing: Bool { sharing != nil }

    /// Begins to offer the session to devices nearby.
    ///
    /// - Returns: once it is on the air.
    /// - Throws: `ProximityError`, ``AgentError/noProximityService``
    func share(_ term: SharingTerm, of session: GatewaySession) async throws {
        guard sharing == nil else { throw ProximityError.sharingInProgress }
        let service = SharingService(
            transport: await radio(), gateway: SessionGateway(session: session), desk: desk,
            settings: try sharingSettings(session.configuration.proximity), events: events)
        // Somebody else may have begun meanwhile.
        guard sharing == nil else { throw ProximityError.sharingInProgress }
        let (beginnings, beginning) = AsyncStream.makeStream(of: Result<Void, ProximityError>.self)
        let told = events.subscribe()
        let listener = Task { for await event in told { if case .sharingStarted = event { beginning.yield(.success(())) } } }
        let task = Task {
            do throws(ProximityError) { _ = try await service.run(term) } catch { beginning.yield(.failure(error)) }
            beginning.finish()
            self.sharingEnded()
        }
        sharing = Sharing(service: service, task: task, term: term)
        defer { listener.cancel() }
        for await outcome in beginnings { return try outcome.get() }
        throw ProximityError.advertisingFailed(reason: "it was ended before it began")
    }

    private func sharingEnded() { sharing = nil }

    /// Ends it, if it goes on.
    func stopSharing() async {
        guard let sharing else { return }
        await sharing.service.stop()
        sharing.task.cancel()
        await sharing.task.value
    }

    private func sharingSettings(_ parameters: GatewayConfiguration.ProximityParameters) throws -> SharingSettings {
        let (service, characteristic) = try Self.identifiers(parameters)
        var sharing = try SharingSettings(serviceUUID: service, characteristicUUID: characteristic)
        sharing.localName = deviceName
        sharing.requiresEncryption = settings.requireEncryption
        sharing.limits.requestsPerMinute = settings.requestsPerMinute
        return sharing
    }

    private static func identifiers(
        _ parameters: GatewayConfiguration.ProximityParameters
    ) throws(AgentError) -> (service: String, characteristic: String) {
        guard let service = parameters.serviceUUID, let characteristic = parameters.characteristicUUID else {
            throw .noProximityService
        }
        return (service, characteristic)
    }

    /// Lets in the device whose QR code was scanned, after consent.
    func authorize(scanned text: String, name: String?, by session: GatewaySession) async throws {
        try await SessionAuthorizer(gateway: SessionGateway(session: session), desk: desk, events: events)
            .authorize(scanned: text, name: name)
    }

    // MARK: Being let in

    /// Logs in with the session of a device nearby, over Bluetooth.
    func logInByBluetooth(at session: GatewaySession) async throws -> String {
        let parameters = session.configuration.proximity
        let (service, characteristic) = try Self.identifiers(parameters)
        var login = try ProximityLoginSettings(serviceUUID: service, characteristicUUID: characteristic)
        login.deviceName = deviceName
        login.leastSignal = settings.leastSignal != 0 ? settings.leastSignal : parameters.leastSignalStrength
        return try await ProximityLogin(
            transport: await radio(), gateway: SessionGateway(session: session), settings: login, events: events
        ).run()
    }

    /// Logs in by a QR code that a device with a session scans.
    ///
    /// - Parameter show: is given the text of the code.
    func logInByQRCode(at session: GatewaySession, show: @escaping @Sendable (String) async throws -> Void) async throws -> String {
        try await QRLogin(gateway: SessionGateway(session: session), events: events).run(show: show)
    }

    // MARK: How it stands

    func report() async -> JSON {
        var report: [String: JSON] = [
            "sharing": .bool(isSharing), "policy": .string(settings.share.rawValue),
            "consents": .array(await desk.pending.map { .object($0.details) }),
        ]
        report["bluetooth"] = await adapter().json
        return .object(report)
    }

    /// Ends everything; nobody is let in any more.
    func close() async {
        await stopSharing()
        await transport?.close()
        events.finish()
    }
}

extension AdapterStatus {
    var json: JSON {
        var members: [String: JSON] = [
            "transport": .string(transport.rawValue), "powered": .bool(isPowered), "lowEnergy": .bool(supportsLowEnergy),
            "blocked": .bool(isBlocked), "canAdvertise": .bool(canAdvertise), "canScan": .bool(canScan),
        ]
        if let adapter { members["adapter"] = .string(adapter) }
        if let address { members["address"] = .string("\(address)") }
        if let fault { members["error"] = .object(fault.explanation) }
        return .object(members)
    }
}
