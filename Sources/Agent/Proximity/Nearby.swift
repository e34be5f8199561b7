import Bluetooth
import Gateway
import Groundwork
import Proximity

/// Proximity log-in of this board, from both sides, and the desk where people give their consent.
///
/// Bluetooth is begun with when somebody first needs it: a board without it does not pay for it.
actor Nearby {
    nonisolated let events = Broadcast<ProximityEvent>()
    /// Told when sharing has ended and may begin again.
    nonisolated let sharingEnds = Broadcast<SharingEnd>()
    nonisolated let desk: ConsentDesk
    nonisolated let audit: AuditLog

    private let makeRadio: @Sendable () async -> any BluetoothTransport
    private let patience: Patience
    private let settings: ProximitySettings
    private let deviceName: String
    private let records: AuditWriter
    private var transport: Task<any BluetoothTransport, Never>?
    private var sharing: Sharing?
    private var isLoggingIn = false
    /// The end of the connection by which the last user was logged in.
    private var parting: Task<Void, Never>?

    private struct Sharing {
        let service: SharingService
        let gateway: SessionGateway
        let term: SharingTerm
        let task: Task<Void, Never>
        /// Whether devices nearby can find this board just now.
        var isOnAir = false
    }

    struct Patience {
        /// How long whoever wants to share waits for the adapter.
        var adapter = Duration.seconds(10)
        /// How long a radio may take to say goodbye.
        var farewell = Duration.seconds(5)
    }

    /// - Parameters:
    ///   - radio: makes another one than the settings ask for.
    ///   - onAuditFailure: told when a record could not be kept.
    init(
        _ configuration: AgentConfiguration, deviceName: String, patience: Patience = Patience(),
        radio: (@Sendable () async -> any BluetoothTransport)? = nil,
        onAuditFailure: @escaping @Sendable (AgentError) -> Void
    ) {
        makeRadio =
            radio ?? { [bluetooth = configuration.bluetooth] in
                await BluetoothChoice(
                    preference: bluetooth.transport, adapter: bluetooth.adapter, isPrivate: bluetooth.isPrivate
                ).makeTransport()
            }
        self.patience = patience
        settings = configuration.proximity
        self.deviceName = deviceName
        let audit = AuditLog(directory: configuration.stateDirectory)
        self.audit = audit
        var desk = ConsentDesk.Settings()
        desk.patience = .seconds(configuration.proximity.consentSeconds)
        desk.requestsPerMinute = configuration.proximity.requestsPerMinute
        let records = AuditWriter(audit, directory: configuration.stateDirectory, onFailure: onAuditFailure)
        self.records = records
        self.desk = ConsentDesk(settings: desk, events: events) { records.take($0) }
    }

    // MARK: Bluetooth

    private func radio() async -> any BluetoothTransport {
        let making = transport ?? Task { [makeRadio] in await makeRadio() }
        transport = making
        return await making.value
    }

    /// How the adapter stands.
    func adapter() async -> AdapterStatus { await radio().status() }

    // MARK: Letting others in

    var isSharing: Bool { sharing != nil }

    /// In whose name others are let in, while they are.
    var shared: SessionGateway? { sharing?.gateway }

    /// Begins to offer the session of whoever is logged in to devices nearby.
    ///
    /// - Returns: once it is on the air; what is endless may still wait for its adapter.
    /// - Throws: `ProximityError`, ``AgentError/noProximityService``
    func share(_ term: SharingTerm, of session: GatewaySession) async throws {
        let gateway = try await SessionGateway(ofUserAt: session)
        let service = SharingService(
            transport: await radio(), gateway: gateway, desk: desk,
            settings: try sharingSettings(session.configuration.proximity), events: events)
        // Somebody else may have begun meanwhile.
        guard sharing == nil else { throw ProximityError.sharingInProgress }
        let (outcomes, outcome) = AsyncStream.makeStream(
            of: Result<Void, ProximityError>.self, bufferingPolicy: .bufferingOldest(1))
        let told = events.subscribe()
        let watching = Task {
            var givingUp: Task<Void, Never>?
            for await event in told {
                switch event {
                case .sharingStarted:
                    sharing?.isOnAir = true
                    outcome.yield(.success(()))
                case .sharingInterrupted(let reason):
                    sharing?.isOnAir = false
                    // What is offered for good waits for its adapter; a person is told that there is none, unless it comes soon.
                    if term == .endless { outcome.yield(.success(())) }
                    if givingUp == nil {
                        givingUp = Task { [patience] in
                            guard (try? await Task.sleep(for: patience.adapter)) != nil else { return }
                            outcome.yield(.failure(.interrupted(reason: reason)))
                        }
                    }
                default: break
                }
            }
            givingUp?.cancel()
        }
        let task = Task {
            let ending: Result<SharingEnd, ProximityError>
            do throws(ProximityError) { ending = .success(try await service.run(term)) } catch {
                ending = .failure(error)
            }
            watching.cancel()
            await watching.value
            // Before anybody is told: whoever hears of it may begin again.
            sharing = nil
            switch ending {
            case .success(let end): sharingEnds.send(end)
            case .failure(let error): outcome.yield(.failure(error))
            }
            outcome.finish()
        }
        sharing = Sharing(service: service, gateway: gateway, term: term, task: task)
        for await outcome in outcomes {
            if case .failure = outcome, sharing?.service === service { await stopSharing(by: .agent) }
            return try outcome.get()
        }
        // Whoever asked for it has gone, or somebody else ended it.
        if Task.isCancelled {
            await stopSharing(by: .agent)
            throw CancellationError()
        }
        throw ProximityError.advertisingFailed(reason: "it was ended before it began")
    }

    /// Ends it, if it goes on; devices that wait for consent are told so.
    func stopSharing(by source: ConsentSource) async {
        guard let sharing else { return }
        await desk.endSharing(by: source)
        await sharing.service.stop()
        // The word to those who wait takes seconds; a radio that does not answer takes no longer.
        let insisting = Task { [patience] in
            if (try? await Task.sleep(for: patience.farewell)) != nil { sharing.task.cancel() }
        }
        await sharing.task.value
        insisting.cancel()
    }

    /// Lets devices pair for a while, where only bonded ones may ask.
    ///
    /// - Throws: ``AgentError/badRequest(member:fault:)``, `BluetoothError`
    func openPairing(for duration: Duration) async throws {
        guard settings.requireEncryption else {
            throw AgentError.badRequest(
                member: "pairing", fault: "is not needed, as proximity.require_encryption is false")
        }
        guard isSharing else {
            throw AgentError.badRequest(member: "pairing", fault: "takes a shared session: latchkey share")
        }
        try await radio().openPairing(for: duration)
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
        try await SessionAuthorizer(gateway: SessionGateway(ofUserAt: session), desk: desk, events: events)
            .authorize(scanned: text, name: name)
    }

    // MARK: Being let in

    /// Logs in with the session of a device nearby, over Bluetooth.
    ///
    /// - Parameter expected: who has to let this board in; `nil` for whoever does.
    func logInByBluetooth(at session: GatewaySession, as expected: String? = nil) async throws -> String {
        try beginLogIn()
        defer { isLoggingIn = false }
        let parameters = session.configuration.proximity
        let (service, characteristic) = try Self.identifiers(parameters)
        var login = try ProximityLoginSettings(serviceUUID: service, characteristicUUID: characteristic)
        login.deviceName = deviceName
        login.leastSignal = settings.leastSignal != 0 ? settings.leastSignal : parameters.leastSignalStrength
        // A device that is being left cannot be connected to.
        await parting?.value
        let logIn = ProximityLogin(
            transport: await radio(), gateway: SessionGateway(session: session, expectedUser: expected),
            settings: login,
            events: events)
        let userName = try await logIn.run()
        parting = Task { await logIn.parted() }
        return userName
    }

    /// Logs in by a QR code that a device with a session scans.
    ///
    /// - Parameters:
    ///   - expected: who has to let this board in; `nil` for whoever does.
    ///   - show: is given the text of the code.
    func logInByQRCode(
        at session: GatewaySession, as expected: String? = nil, show: @escaping @Sendable (String) async throws -> Void
    ) async throws -> String {
        try beginLogIn()
        defer { isLoggingIn = false }
        return try await QRLogin(gateway: SessionGateway(session: session, expectedUser: expected), events: events).run(
            show: show)
    }

    /// One at a time: the radio scans once, and the steps that are told are those of one log-in.
    private func beginLogIn() throws(ProximityError) {
        guard !isLoggingIn else { throw .loginInProgress }
        isLoggingIn = true
    }

    // MARK: How it stands

    func report() async -> JSON {
        var report: [String: JSON] = [
            "sharing": .bool(isSharing), "onAir": .bool(sharing?.isOnAir ?? false),
            "policy": .string(settings.share.rawValue),
            "consents": .array(await desk.pending.map { .object($0.details) }),
            "ambiguous": .bool(await desk.light == .ambiguous),
        ]
        if let sharing { report["term"] = .string(sharing.term.name) }
        report["bluetooth"] = await adapter().json
        return .object(report)
    }

    /// Ends everything; nobody is let in any more.
    func close() async {
        await stopSharing(by: .agent)
        await transport?.value.close()
        await parting?.value
        await records.end()
        sharingEnds.finish()
        events.finish()
    }
}

extension SharingTerm {
    /// For programs.
    fileprivate var name: String {
        switch self {
        case .once: "once"
        case .lasting: "lasting"
        case .endless: "endless"
        }
    }
}

extension AdapterStatus {
    var json: JSON {
        var members: [String: JSON] = [
            "transport": .string(transport.rawValue), "powered": .bool(isPowered),
            "lowEnergy": .bool(supportsLowEnergy),
            "blocked": .bool(isBlocked), "canAdvertise": .bool(canAdvertise), "canScan": .bool(canScan),
        ]
        if let adapter { members["adapter"] = .string(adapter) }
        if let address { members["address"] = .string("\(address)") }
        if let fault { members["error"] = .object(fault.explanation) }
        return .object(members)
    }
}
