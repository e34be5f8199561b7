import Groundwork

/// A service being served, and its centrals.
struct Serving {
    var application: BlueZApplication
    let events: EventQueue
    /// Wakes the task that puts the service on the air.
    let pokes: AsyncStream<Void>.Continuation
    let upkeep: Task<Void, Never>
    var adapter: String?
    var isOnAir = false
    /// The last reported reason for being off the air, so that it is reported once.
    var reported: String?
    var backoff = Backoff(initial: .seconds(1), cap: .seconds(60))
    var isWaitingToRetry = false
    /// The adapter was turned off after this program had turned it on.
    var isTurnedOff = false
    /// By the device's path.
    var centrals: [String: Central] = [:]
    /// The subscriptions of bonded devices, by their paths. bluetoothd keeps them from one connection to the next,
    /// and does not report them again (Core, Vol 3 Part G 3.3.3.3).
    var keptSubscriptions: [String: Set<BluetoothUUID>] = [:]
    /// Devices whose connection has ended. Their earlier writes may be reported afterwards, and are not a new
    /// connection.
    var departed: Set<String> = []
    var isAnswering = false
    var waitingToAnswer: [CheckedContinuation<Void, Never>] = []

    /// A connection that has used the service. Others, such as a keyboard's, do not concern this program.
    struct Central {
        let id: CentralID
        var subscriptions: Set<BluetoothUUID> = []
        /// ATT_MTU as last reported by bluetoothd.
        var mtu = 23
    }
}

extension BlueZ {
    func serve(_ service: LocalService, advertising: Advertisement) async throws(BluetoothError) -> AsyncStream<
        PeripheralEvent
    > {
        try await open()
        guard serving == nil else { throw .failed(operation: "serve", reason: "this transport is already serving") }
        let events = EventQueue()
        let (pokes, poke) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let upkeep = Task { [weak self] in
            for await _ in pokes { await self?.bringUp() }
        }
        serving = Serving(
            application: BlueZApplication(service, advertising), events: events, pokes: poke, upkeep: upkeep)
        poke.yield()
        return events.stream
    }

    func pokeServing() { serving?.pokes.yield() }

    func stopServing() async {
        guard let ended = serving else { return }
        ended.pokes.finish()
        ended.upkeep.cancel()
        // A registration in progress has to be undone too, and its adapter may not have been known before.
        await ended.upkeep.value
        if let adapter = serving?.adapter ?? ended.adapter { await withdraw(from: adapter) }
        for path in ended.centrals.keys { await hangUp(path) }
        serving = nil
        await closePairing()
        for waiting in ended.waitingToAnswer { waiting.resume() }
        ended.events.finish()
    }

    // MARK: On and off the air

    /// How long a connection that does not use the service may keep the service off the air.
    private static let patience = Duration.seconds(10)

    /// Registers service and advertisement, unless that has been done. A failed attempt is repeated when bluetoothd's
    /// objects change, and after a growing delay.
    private func bringUp() async {
        guard let serving, !serving.isOnAir else { return }
        do {
            try await open()
            guard !serving.isTurnedOff else { return }
            let adapter = try await poweredAdapter()
            let manager = try advertisingManager(of: adapter)
            let askedOwner = owner
            self.serving?.application.includesPower = manager["SupportedIncludes"]?.texts.contains("tx-power") == true
            self.serving?.adapter = adapter
            // bluetoothd may have been restarted meanwhile.
            if pairing != nil { await beginPairing() }
            try await register(BlueZName.gattManager, "RegisterApplication", BlueZApplication.root, on: adapter)
            try await register(
                BlueZName.advertisingManager, "RegisterAdvertisement", BlueZApplication.advertisementPath, on: adapter)
            // bluetoothd or the adapter may be gone meanwhile, and the poke with it.
            guard owner == askedOwner, objects[adapter, BlueZName.adapter]?["Powered"]?.flag == true else {
                return pokeServing()
            }
            self.serving?.isOnAir = true
            self.serving?.reported = nil
            self.serving?.backoff.reset()
            report(.started)
        } catch {
            report(error)
            retryLater()
        }
    }

    /// - Throws: ``BluetoothError/noLowEnergy(adapter:)``; ``BluetoothError/noAdapter(name:)`` while bluetoothd is
    ///   still setting it up
    private func advertisingManager(of adapter: String) throws(BluetoothError) -> BlueZObjects.Properties {
        let name = BlueZObjects.name(ofAdapter: adapter)
        if let roles = objects[adapter, BlueZName.adapter]?["Roles"]?.texts, !roles.contains("peripheral") {
            throw .noLowEnergy(adapter: name)
        }
        guard let manager = objects[adapter, BlueZName.advertisingManager],
            objects[adapter, BlueZName.gattManager] != nil
        else { throw .noAdapter(name: name) }
        return manager
    }

    private func register(
        _ interface: String, _ member: String, _ path: String, on adapter: String
    ) async throws(BluetoothError) {
        let call = BusCall(path: adapter, interface: interface, member: member, arguments: [.path(path), .options([])])
        guard case .failure(let failure) = await self.call(call), failure.name != "org.bluez.Error.AlreadyExists" else {
            return
        }
        throw BluetoothError(failure, operation: member == "RegisterApplication" ? "register the service" : "advertise")
    }

    /// The kernel stops advertising from the first connection until that has ended. So centrals are served one after
    /// the other, which is fine; but an idle one must not keep the others away.
    private func advertiseAgainLater(_ device: String) {
        after(Self.patience) { bluez in
            guard let serving = bluez.serving, serving.isOnAir, let adapter = serving.adapter,
                device.hasPrefix(adapter + "/"),
                serving.centrals[device] == nil, bluez.objects.isConnected(device)
            else { return }
            Task { await bluez.advertiseAgain(on: adapter) }
        }
    }

    private func advertiseAgain(on adapter: String) async {
        let path = BlueZApplication.advertisementPath
        _ = await call(
            BusCall(
                path: adapter, interface: BlueZName.advertisingManager, member: "UnregisterAdvertisement",
                arguments: [.path(path)]))
        guard serving?.isOnAir == true else { return }
        do {
            try await register(BlueZName.advertisingManager, "RegisterAdvertisement", path, on: adapter)
        } catch {
            goOff(error)
            retryLater()
        }
    }

    private func withdraw(from adapter: String) async {
        for (interface, member, path) in [
            (BlueZName.advertisingManager, "UnregisterAdvertisement", BlueZApplication.advertisementPath),
            (BlueZName.gattManager, "UnregisterApplication", BlueZApplication.root),
        ] {
            _ = await call(
                BusCall(
                    path: adapter, interface: interface, member: member, arguments: [.path(path)],
                    timeout: .seconds(5)))
        }
    }

    /// Reports an error, once for as long as it stays the same.
    private func report(_ error: BluetoothError) {
        guard serving != nil, serving?.reported != error.code else { return }
        serving?.reported = error.code
        report(.interrupted(error))
    }

    func retryLater() {
        guard serving?.isWaitingToRetry == false, let delay = serving?.backoff.next() else { return }
        serving?.isWaitingToRetry = true
        after(delay) {
            $0.serving?.isWaitingToRetry = false
            // A bluetoothd that did not list its objects is asked again.
            if $0.refusal == nil { $0.pokeServing() } else { Task { [bluez = $0] in await bluez.refresh() } }
        }
    }

    func goOff(_ error: BluetoothError) {
        guard serving?.isOnAir == true else { return }
        serving?.isOnAir = false
        for path in serving?.centrals.keys.map({ $0 }) ?? [] { forget(path) }
        report(error)
    }

    /// Handles a change of bluetoothd's objects for the service.
    func serve(_ change: BlueZObjects.Change) {
        guard let adapter = serving?.adapter else { return pokeForAdapters(change) }
        switch change {
        case .changed(let path, BlueZName.device, let keys) where keys.contains("Connected"):
            if objects.isConnected(path) { advertiseAgainLater(path) } else { depart(path) }
        case .added(let path, BlueZName.device) where objects.isConnected(path): advertiseAgainLater(path)
        case .removed(let path, BlueZName.device):
            forget(path)
            serving?.departed.remove(path)
            serving?.keptSubscriptions[path] = nil
        case .removed(adapter, BlueZName.adapter), .removed(adapter, BlueZName.advertisingManager):
            serving?.isTurnedOff = false
            goOff(owner == nil ? .daemonMissing : .noAdapter(name: BlueZObjects.name(ofAdapter: adapter)))
            pokeServing()
        case .changed(adapter, BlueZName.adapter, let keys) where keys.contains("Powered"):
            let isOn = objects[adapter, BlueZName.adapter]?["Powered"]?.flag == true
            if serving?.isOnAir == true || isOn { serving?.isTurnedOff = !isOn }
            if isOn { pokeServing() } else { powerIsOff(adapter) }
        default: pokeForAdapters(change)
        }
    }

    /// Retries when there may be room for an advertisement, or a new adapter.
    private func pokeForAdapters(_ change: BlueZObjects.Change) {
        switch change {
        case .added(_, BlueZName.advertisingManager), .added(_, BlueZName.adapter),
            .changed(_, BlueZName.advertisingManager, _), .changed(_, BlueZName.adapter, _):
            if serving?.isOnAir == false { pokeServing() }
        default: break
        }
    }

    /// The adapter was turned off on purpose, so the service only returns with the power. bluetoothd has dropped the
    /// advertisement, but not the registration.
    private func powerIsOff(_ adapter: String) {
        guard serving?.isOnAir == true else { return }
        let name = BlueZObjects.name(ofAdapter: adapter)
        switch RadioSwitch.state(of: name) {
        case .open: goOff(.failed(operation: "advertise", reason: "adapter \(name) was turned off"))
        case .blockedBySoftware: goOff(.blocked(adapter: name, hard: false))
        case .blockedByHardware: goOff(.blocked(adapter: name, hard: true))
        }
        Task { await self.withdraw(from: adapter) }
    }
}
