import Glibc

extension BlueZ {
    /// The adapter's path.
    ///
    /// - Throws: ``BluetoothError/daemonMissing``, ``BluetoothError/noAdapter(name:)``, or bluetoothd's refusal
    func adapter() throws(BluetoothError) -> String {
        if let refusal { throw refusal }
        guard objects.isPresent else { throw .daemonMissing }
        guard let path = objects.adapter(named: wantedAdapter) else { throw .noAdapter(name: wantedAdapter) }
        return path
    }

    /// The adapter, powered.
    ///
    /// - Throws: as ``adapter()``, and ``BluetoothError/blocked(adapter:hard:)``
    func poweredAdapter() async throws(BluetoothError) -> String {
        let path = try adapter()
        guard objects[path, BlueZName.adapter]?["Powered"]?.flag != true else { return path }
        let name = BlueZObjects.name(ofAdapter: path)
        let call = BusCall(
            path: path, interface: BlueZName.properties, member: "Set",
            arguments: [.text(BlueZName.adapter), .text("Powered"), .variant(.flag(true))])
        guard case .failure(let failure) = await self.call(call) else { return path }
        switch RadioSwitch.state(of: name) {
        case .open: throw BluetoothError(failure, operation: "power adapter \(name)")
        case .blockedBySoftware: throw .blocked(adapter: name, hard: false)
        case .blockedByHardware: throw .blocked(adapter: name, hard: true)
        }
    }

    func status() async -> AdapterStatus {
        var status = AdapterStatus(transport: .bluez)
        do {
            try await open()
            let path = try adapter()
            let name = BlueZObjects.name(ofAdapter: path)
            let properties = objects[path, BlueZName.adapter] ?? [:]
            let roles = properties["Roles"]?.texts ?? []
            let radio = RadioSwitch.state(of: name)
            status.adapter = name
            status.address = properties["Address"]?.text.flatMap {
                BluetoothAddress($0, kind: properties["AddressType"]?.text == "random" ? .random : .public)
            }
            status.isPowered = properties["Powered"]?.flag == true
            status.isBlocked = radio != .open
            status.canAdvertise = objects[path, BlueZName.advertisingManager] != nil && roles.contains("peripheral")
            status.canScan = roles.contains("central")
            status.supportsLowEnergy = status.canAdvertise || status.canScan
            if radio != .open {
                status.fault = .blocked(adapter: name, hard: radio == .blockedByHardware)
            } else if !status.supportsLowEnergy {
                status.fault = .noLowEnergy(adapter: name)
            }
        } catch {
            status.fault = error
        }
        return status
    }

    /// Returns when bluetoothd has processed everything sent to it before: it handles messages in order.
    func roundTrip() async {
        guard let path = objects.adapter(named: wantedAdapter) else { return }
        _ = await call(
            BusCall(
                path: path, interface: BlueZName.properties, member: "Get",
                arguments: [.text(BlueZName.adapter), .text("Address")], timeout: .seconds(5)))
    }

    static func reason(ofErrno code: CInt) -> String { String(cString: strerror(code)) }
}
