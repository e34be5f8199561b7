/// bluetoothd's objects on the bus, kept up to date by its signals: the state that all decisions of this transport
/// are based on.
///
/// Names, UUIDs and other properties of a device are received over the air. They are compared and displayed, never
/// trusted.
struct BlueZObjects {
    typealias Properties = [String: BusValue]

    /// What a signal changed.
    enum Change: Equatable {
        case added(path: String, interface: String)
        case changed(path: String, interface: String, keys: Set<String>)
        case removed(path: String, interface: String)
    }

    private var interfaces: [String: [String: Properties]] = [:]

    /// Whether bluetoothd has listed its objects.
    private(set) var isPresent = false

    subscript(path: String, interface: String) -> Properties? { interfaces[path]?[interface] }

    // MARK: Signals

    /// Replaces all objects with the answer of `GetManagedObjects`.
    mutating func reset(to answer: [BusValue]) -> [Change] {
        interfaces = [:]
        isPresent = true
        var changes: [Change] = []
        for (path, object) in answer.first?.table ?? [:] { changes += add(path, object) }
        return changes
    }

    /// Called when bluetoothd has left the bus.
    mutating func clear() -> [Change] {
        let changes = interfaces.flatMap { path, object in object.keys.map { Change.removed(path: path, interface: $0) }
        }
        interfaces = [:]
        isPresent = false
        return changes
    }

    mutating func receive(path: String, interface: String, member: String, _ arguments: [BusValue]) -> [Change] {
        switch (interface, member) {
        case (BlueZName.objectManager, "InterfacesAdded") where arguments.count == 2:
            guard let path = arguments[0].text else { return [] }
            return add(path, arguments[1])
        case (BlueZName.objectManager, "InterfacesRemoved") where arguments.count == 2:
            guard let path = arguments[0].text else { return [] }
            return remove(path, arguments[1].texts)
        case (BlueZName.properties, "PropertiesChanged") where arguments.count == 3:
            guard let interface = arguments[0].text else { return [] }
            return change(path, interface, arguments[1].table ?? [:], invalidated: arguments[2].texts)
        default: return []
        }
    }

    private mutating func add(_ path: String, _ object: BusValue) -> [Change] {
        var changes: [Change] = []
        for (interface, properties) in object.table ?? [:] where interface.hasPrefix("org.bluez.") {
            interfaces[path, default: [:]][interface] = properties.table ?? [:]
            changes.append(.added(path: path, interface: interface))
        }
        return changes
    }

    private mutating func remove(_ path: String, _ gone: [String]) -> [Change] {
        guard var object = interfaces[path] else { return [] }
        let removed = gone.filter { object.removeValue(forKey: $0) != nil }
        interfaces[path] = object.isEmpty ? nil : object
        return removed.map { .removed(path: path, interface: $0) }
    }

    private mutating func change(
        _ path: String, _ interface: String, _ changed: Properties, invalidated: [String]
    ) -> [Change] {
        guard var properties = interfaces[path]?[interface] else { return [] }
        properties.merge(changed) { $1 }
        for key in invalidated { properties[key] = nil }
        if changed["Connected"] == .flag(false) { properties["ServicesResolved"] = .flag(false) }
        interfaces[path]?[interface] = properties
        return [.changed(path: path, interface: interface, keys: Set(changed.keys).union(invalidated))]
    }

    // MARK: Queries

    /// The adapter called `wanted`: `hci1`, an address, or empty for the first.
    func adapter(named wanted: String) -> String? {
        let adapters = interfaces.filter { $0.value[BlueZName.adapter] != nil }.keys.sorted {
            ($0.utf8.count, $0) < ($1.utf8.count, $1)
        }
        guard !wanted.isEmpty else { return adapters.first }
        return adapters.first { path in
            Self.name(ofAdapter: path) == wanted
                || self[path, BlueZName.adapter]?["Address"]?.text?.lowercased() == wanted.lowercased()
        }
    }

    static func name(ofAdapter path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }

    /// The devices of an adapter.
    func devices(of adapter: String) -> [String] {
        interfaces.filter { $0.value[BlueZName.device]?["Adapter"]?.text == adapter }.map(\.key)
    }

    func address(ofDevice path: String) -> BluetoothAddress? {
        guard let properties = self[path, BlueZName.device], let text = properties["Address"]?.text else { return nil }
        return BluetoothAddress(text, kind: properties["AddressType"]?.text == "random" ? .random : .public)
    }

    func device(of adapter: String, address: BluetoothAddress) -> String? {
        devices(of: adapter).first { self.address(ofDevice: $0) == address }
    }

    /// bluetoothd 5.66 sometimes omits `Connected`; a device with resolved services is connected too.
    func isConnected(_ device: String) -> Bool {
        let properties = self[device, BlueZName.device]
        return properties?["Connected"]?.flag == true || properties?["ServicesResolved"]?.flag == true
    }

    /// Whether the device claims to be an input device such as a keyboard or mouse: HID over GATT, or HID (Bluetooth
    /// Assigned Numbers 3.4, 3.3).
    func offersInput(_ device: String) -> Bool {
        let services = self[device, BlueZName.device]?["UUIDs"]?.texts.compactMap { BluetoothUUID($0) } ?? []
        return services.contains(BluetoothUUID(short: 0x1812)) || services.contains(BluetoothUUID(short: 0x1124))
    }

    /// A sighting of the device, if it was heard in the current discovery and advertises the service.
    func sighting(ofDevice path: String, service: BluetoothUUID) -> Sighting? {
        guard let properties = self[path, BlueZName.device], let rssi = properties["RSSI"]?.number,
            let address = address(ofDevice: path),
            properties["UUIDs"]?.texts.contains(where: { BluetoothUUID($0) == service }) == true
        else { return nil }
        return Sighting(address: address, rssi: Int(rssi), name: properties["Name"]?.text)
    }

    /// The first characteristic of a service of a device.
    func characteristic(ofDevice device: String, service: BluetoothUUID, characteristic: BluetoothUUID) -> String? {
        let services = children(of: device, interface: BlueZName.gattService, named: service)
        return services.lazy.compactMap {
            children(of: $0, interface: BlueZName.gattCharacteristic, named: characteristic).first
        }.first
    }

    /// ATT_MTU of a connection, a property of every characteristic. 23 if bluetoothd is too old to report it.
    func mtu(ofDevice device: String) -> Int {
        for (path, object) in interfaces where path.hasPrefix(device + "/") {
            if let mtu = object[BlueZName.gattCharacteristic]?["MTU"]?.number { return max(Int(mtu), 23) }
        }
        return 23
    }

    /// Whether a characteristic has a Client Characteristic Configuration descriptor (Core, Vol 3 Part G 3.3.3.3).
    func hasConfigurationDescriptor(_ characteristic: String) -> Bool {
        !children(of: characteristic, interface: BlueZName.gattDescriptor, named: BluetoothUUID(short: 0x2902)).isEmpty
    }

    /// Paths contain the handle in hexadecimal digits, so that they sort in the order of the database.
    private func children(of parent: String, interface: String, named uuid: BluetoothUUID) -> [String] {
        interfaces.filter { path, object in
            path.hasPrefix(parent + "/") && object[interface]?["UUID"]?.text.flatMap { BluetoothUUID($0) } == uuid
        }.keys.sorted()
    }
}
