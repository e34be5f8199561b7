/// A connection of this program to a peripheral.
struct PeripheralLink {
    let values: AsyncStream<RemoteValue>.Continuation
    /// Whether another program had connected before, and keeps the connection.
    let isShared: Bool
}

extension BlueZ {
    /// Connects and waits until the peripheral's services are known.
    ///
    /// - Returns: the device's path
    func connect(
        to address: BluetoothAddress, timeout: Duration
    ) async throws(BluetoothError) -> (path: String, values: AsyncStream<RemoteValue>) {
        let end = ContinuousClock.now + timeout
        let operation = "connect to \(address)"
        try await open()
        let adapter = try await poweredAdapter()
        let path = try await find(address, on: adapter, until: end)
        guard links[path] == nil else { throw .failed(operation: operation, reason: "there already is a connection") }
        let isShared = objects.isConnected(path)
        let (values, continuation) = AsyncStream.makeStream(of: RemoteValue.self, bufferingPolicy: .bufferingOldest(64))
        links[path] = PeripheralLink(values: continuation, isShared: isShared)
        await beginPairing()
        do {
            try await join(path, until: end, operation)
            return (path, values)
        } catch {
            await endLink(path)
            throw error
        }
    }

    /// Searches for a device: bluetoothd only connects to devices it has heard recently.
    private func find(
        _ address: BluetoothAddress, on adapter: String, until end: ContinuousClock.Instant
    ) async throws(BluetoothError) -> String {
        if let path = objects.device(of: adapter, address: address) { return path }
        let search = try await beginSearch(Search(), on: adapter)
        let verdict = await wait(for: end - .now) { $0.device(of: adapter, address: address) == nil ? nil : .yes }
        endSearch(search)
        guard verdict == .yes, let path = objects.device(of: adapter, address: address) else {
            throw .timedOut(operation: "find \(address)")
        }
        return path
    }

    /// Establishing a connection sometimes fails over the air and succeeds at once when retried.
    private func join(_ path: String, until end: ContinuousClock.Instant, _ operation: String)
        async throws(BluetoothError)
    {
        var failure = BluetoothError.disconnected
        for _ in 1...3 {
            let left = end - .now
            guard left > .zero else { throw .timedOut(operation: operation) }
            let result = await call(BusCall(path: path, interface: BlueZName.device, member: "Connect", timeout: left))
            if case .failure(let refusal) = result, refusal.name != "org.bluez.Error.AlreadyConnected" {
                failure = BluetoothError(refusal, operation: operation)
                guard refusal.name == "org.bluez.Error.Failed" else { throw failure }
            } else {
                switch await resolve(path, until: end) {
                case .yes: return
                case .no: failure = .disconnected
                case .late: throw .timedOut(operation: "read the services of \(path.suffix(17))")
                }
            }
            guard objects[path, BlueZName.device] != nil else { break }
        }
        throw failure
    }

    /// - Returns: whether the services are known now; `no` if the connection has ended
    private func resolve(_ path: String, until end: ContinuousClock.Instant) async -> Verdict {
        // bluetoothd answers the call before it reports the connection.
        let connected = await wait(for: min(end - .now, .seconds(5))) { objects in
            guard objects[path, BlueZName.device] != nil else { return .no }
            return objects.isConnected(path) ? .yes : nil
        }
        guard connected == .yes else { return .no }
        return await wait(for: end - .now) { objects in
            guard objects.isConnected(path) else { return .no }
            return objects[path, BlueZName.device]?["ServicesResolved"]?.flag == true ? .yes : nil
        }
    }

    /// Disconnects, and makes bluetoothd forget the device with everything cached of it, unless another program uses
    /// the connection.
    func endLink(_ path: String) async {
        guard let link = links.removeValue(forKey: path) else { return }
        link.values.finish()
        await endPairing()
        // Any device may advertise the service, so no bond made with it outlives the connection.
        await forgetBond(path)
        guard !link.isShared, let device = objects[path, BlueZName.device] else { return }
        if device["Paired"]?.flag == true {
            await hangUp(path)
        } else if let adapter = device["Adapter"]?.text {
            await remove(path, of: adapter)
        }
    }

    /// Handles a change of bluetoothd's objects for the connections.
    func link(_ change: BlueZObjects.Change) {
        switch change {
        case .changed(let path, BlueZName.gattCharacteristic, let keys) where keys.contains("Value"):
            guard let device = links.keys.first(where: { path.hasPrefix($0 + "/") }),
                let properties = objects[path, BlueZName.gattCharacteristic], let value = properties["Value"]?.bytes,
                let uuid = properties["UUID"]?.text.flatMap({ BluetoothUUID($0) })
            else { return }
            links[device]?.values.yield(RemoteValue(characteristic: uuid, bytes: value))
        case .changed(let path, BlueZName.device, let keys) where keys.contains("Connected"):
            if !objects.isConnected(path) { links[path]?.values.finish() }
        case .removed(let path, BlueZName.device): links[path]?.values.finish()
        default: break
        }
    }

    // MARK: Characteristics

    func find(
        _ characteristic: BluetoothUUID, of service: BluetoothUUID, on device: String
    ) async throws(BluetoothError) -> RemoteCharacteristic? {
        guard links[device] != nil, objects.isConnected(device) else { throw .disconnected }
        var path = objects.characteristic(ofDevice: device, service: service, characteristic: characteristic)
        if path == nil {
            // bluetoothd may report that it knows the services before it reports them.
            await refresh()
            path = objects.characteristic(ofDevice: device, service: service, characteristic: characteristic)
        }
        guard let path, let properties = objects[path, BlueZName.gattCharacteristic] else { return nil }
        return RemoteCharacteristic(
            uuid: characteristic, properties: BlueZFlags.properties(of: properties["Flags"]?.texts ?? []),
            hasConfigurationDescriptor: objects.hasConfigurationDescriptor(path), handle: 0, path: path)
    }

    /// - Returns: `false` if the characteristic has no descriptor for it, or the peripheral refuses
    func subscribe(_ path: String, on device: String) async throws(BluetoothError) -> Bool {
        switch await call(BusCall(path: path, interface: BlueZName.gattCharacteristic, member: "StartNotify")) {
        case .success: return true
        case .failure(let failure):
            guard links[device] != nil, objects.isConnected(device) else { throw .disconnected }
            guard failure.name.hasPrefix("org.bluez.Error.") else {
                throw BluetoothError(failure, operation: "subscribe")
            }
            return false
        }
    }

    func write(_ value: [UInt8], to path: String, on device: String, withResponse: Bool) async throws(BluetoothError) {
        guard links[device] != nil, objects.isConnected(device) else { throw .disconnected }
        let limit = mtu(of: device) - 3
        guard value.count <= limit else { throw .tooLong }
        let options: BusArgument = .options([("type", .text(withResponse ? "request" : "command"))])
        try await ask(
            BusCall(
                path: path, interface: BlueZName.gattCharacteristic, member: "WriteValue",
                arguments: [.bytes(value), options], timeout: .seconds(35)), to: "write")
    }

    func mtu(of device: String) -> Int { objects.mtu(ofDevice: device) }
}
