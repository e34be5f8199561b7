/// A scan for peripherals, or the search for one that is to be connected to.
struct Search {
    /// `nil` searches for any device.
    var service: BluetoothUUID?
    var sightings: AsyncThrowingStream<Sighting, any Error>.Continuation?
}

extension BlueZ {
    /// Sightings as bluetoothd reports them: a device is reported again when its signal strength changes.
    func scan(for service: BluetoothUUID) async throws(BluetoothError) -> AsyncThrowingStream<Sighting, any Error> {
        try await open()
        let adapter = try await poweredAdapter()
        let (stream, continuation) = AsyncThrowingStream.makeStream(
            of: Sighting.self, bufferingPolicy: .bufferingNewest(64))
        let number = try await beginSearch(Search(service: service, sightings: continuation), on: adapter)
        continuation.onTermination = { _ in Task { await self.endSearch(number) } }
        for device in objects.devices(of: adapter) {
            if let sighting = objects.sighting(ofDevice: device, service: service) { continuation.yield(sighting) }
        }
        return stream
    }

    func beginSearch(_ search: Search, on adapter: String) async throws(BluetoothError) -> Int {
        let number = nextNumber()
        searches[number] = search
        do {
            try await discover(on: adapter)
        } catch {
            searches[number] = nil
            throw error
        }
        return number
    }

    func endSearch(_ number: Int, throwing error: BluetoothError? = nil) {
        guard let search = searches.removeValue(forKey: number) else { return }
        search.sightings?.finish(throwing: error)
        guard searches.isEmpty, let adapter = objects.adapter(named: wantedAdapter), daemonScan.end() else { return }
        stopDiscovery(on: adapter)
    }

    /// The answer does not matter, only that the call is sent before what follows.
    private func stopDiscovery(on adapter: String) {
        bus?.send(BusCall(path: adapter, interface: BlueZName.adapter, member: "StopDiscovery")) { _ in }
    }

    /// Starts discovery unless it runs. A search that begins while bluetoothd is being asked shares the answer: it
    /// would wait without success if that were a failure.
    ///
    /// - Parameter ask: asks bluetoothd.
    /// - Returns: the failure, if any.
    func startDiscovery(on adapter: String, asking ask: @escaping () async -> BusFailure?) async -> BusFailure? {
        switch daemonScan.want() {
        case .isRunning: return nil
        case .isAsked: return await discoveryStart?.value ?? nil
        case .ask(let call):
            let failure = await start(call, on: adapter, asking: ask)
            if failure == nil { renewLater(on: adapter) }
            return failure
        }
    }

    private func start(
        _ call: Int, on adapter: String, asking ask: @escaping () async -> BusFailure?
    ) async -> BusFailure? {
        let start = Task {
            let failure = await ask()
            if daemonScan.answered(call, isRunning: failure == nil) { stopDiscovery(on: adapter) }
            return failure
        }
        discoveryStart = start
        return await start.value
    }

    private func askForDiscovery(on adapter: String) async -> BusFailure? {
        let result = await call(BusCall(path: adapter, interface: BlueZName.adapter, member: "StartDiscovery"))
        // Another program's scan serves as well.
        guard case .failure(let failure) = result, failure.name != "org.bluez.Error.InProgress" else { return nil }
        return failure
    }

    /// Sets the filter for all searches together, and starts discovery. bluetoothd keeps one filter and one discovery
    /// per client.
    private func discover(on adapter: String) async throws(BluetoothError) {
        var filter: [(String, BusArgument)] = [("Transport", .text("le")), ("DuplicateData", .flag(true))]
        let services = Set(searches.values.map(\.service))
        if !services.contains(nil) {
            filter.append(("UUIDs", .texts(services.compactMap { $0?.description })))
        }
        let operation = "scan"
        try await ask(
            BusCall(
                path: adapter, interface: BlueZName.adapter, member: "SetDiscoveryFilter",
                arguments: [.options(filter)]), to: operation)
        if let failure = await startDiscovery(on: adapter, asking: { await self.askForDiscovery(on: adapter) }) {
            throw BluetoothError(failure, operation: operation)
        }
    }

    /// Controllers report a device once in a scan, and bluetoothd only reports changes of the signal strength. So the
    /// scan is restarted after a while, to hear which devices are there by then.
    private func renewLater(on adapter: String) {
        renewal += 1
        let number = renewal
        after(.seconds(2)) { bluez in
            Task { await bluez.renew(number, on: adapter) }
        }
    }

    private func renew(_ number: Int, on adapter: String) async {
        guard number == renewal, !searches.isEmpty else { return }
        _ = await call(BusCall(path: adapter, interface: BlueZName.adapter, member: "StopDiscovery"))
        guard number == renewal, !searches.isEmpty else { return }
        _ = await start(daemonScan.renew(), on: adapter) { await self.askForDiscovery(on: adapter) }
        if number == renewal { renewLater(on: adapter) }
    }

    /// Handles a change of bluetoothd's objects for the scans.
    func search(_ change: BlueZObjects.Change) {
        switch change {
        case .added(let path, BlueZName.device): sight(path)
        case .changed(let path, BlueZName.device, let keys) where !keys.isDisjoint(with: ["RSSI", "UUIDs"]): sight(path)
        case .changed(let path, BlueZName.adapter, let keys)
        where keys.contains("Powered") && objects[path, BlueZName.adapter]?["Powered"]?.flag == false:
            endScans(.failed(operation: "scan", reason: "the adapter was turned off"))
        case .removed(_, BlueZName.adapter): endScans(.noAdapter(name: wantedAdapter))
        default: break
        }
    }

    private func sight(_ device: String) {
        guard !searches.isEmpty, let adapter = objects.adapter(named: wantedAdapter),
            objects[device, BlueZName.device]?["Adapter"]?.text == adapter
        else { return }
        for search in searches.values {
            guard let service = search.service, let sighting = objects.sighting(ofDevice: device, service: service)
            else { continue }
            search.sightings?.yield(sighting)
        }
    }

    private func endScans(_ error: BluetoothError) {
        let adapter = objects.adapter(named: wantedAdapter)
        guard adapter.flatMap({ objects[$0, BlueZName.adapter]?["Powered"]?.flag }) != true else { return }
        daemonScan.forget()
        for number in searches.keys { endSearch(number, throwing: owner == nil ? .daemonMissing : error) }
    }
}
