/// The objects that this program exports to bluetoothd: the service with its characteristics, and the advertisement.
struct BlueZApplication: Sendable {
    static let root = "/latchkey"
    static let advertisementPath = "/latchkey/advertisement"
    private static let servicePath = "/latchkey/service"

    let service: LocalService
    let advertisement: Advertisement
    /// Whether the controller can include its transmit power in the advertisement.
    var includesPower = false

    init(_ service: LocalService, _ advertisement: Advertisement) {
        self.service = service
        self.advertisement = advertisement
    }

    var needsEncryption: Bool { service.characteristics.contains(where: \.requiresEncryption) }

    func characteristic(at path: String) -> BluetoothUUID? {
        service.characteristics.indices.first { self.path(ofCharacteristic: $0) == path }.map {
            service.characteristics[$0].uuid
        }
    }

    func path(of characteristic: BluetoothUUID) -> String? {
        service.characteristics.firstIndex { $0.uuid == characteristic }.map(path(ofCharacteristic:))
    }

    private func path(ofCharacteristic index: Int) -> String { "\(Self.servicePath)/characteristic\(index)" }

    /// The objects that bluetoothd reads after `RegisterApplication`.
    var objects: [BusObject] {
        var objects = [
            BusObject(
                path: Self.servicePath, interface: BlueZName.gattService,
                properties: [
                    ("UUID", .text(service.uuid.description)), ("Primary", .flag(true)),
                ])
        ]
        for (index, characteristic) in service.characteristics.enumerated() {
            var properties: [(String, BusArgument)] = [
                ("UUID", .text(characteristic.uuid.description)), ("Service", .path(Self.servicePath)),
                ("Flags", .texts(BlueZFlags.flags(of: characteristic))),
            ]
            // Makes bluetoothd name the subscribing central, see `BlueZ.answer(_:)`.
            if !characteristic.properties.isDisjoint(with: [.notify, .indicate]) {
                properties.append(("NotifyAcquired", .flag(false)))
            }
            objects.append(
                BusObject(
                    path: path(ofCharacteristic: index), interface: BlueZName.gattCharacteristic, properties: properties
                ))
        }
        return objects
    }

    /// Answers `Properties.GetAll`.
    func properties(of path: String, interface: String) -> [(String, BusArgument)]? {
        if path == Self.advertisementPath, interface == BlueZName.advertisement { return advertised }
        return objects.first { $0.path == path && $0.interface == interface }?.properties
    }

    private var advertised: [(String, BusArgument)] {
        var properties: [(String, BusArgument)] = [
            ("Type", .text("peripheral")), ("ServiceUUIDs", .texts([advertisement.service.description])),
        ]
        if let name = advertisement.localName, !name.isEmpty { properties.append(("LocalName", .text(Self.cut(name)))) }
        if includesPower { properties.append(("Includes", .texts(["tx-power"]))) }
        return properties
    }

    /// The name shortened to fit into a scan response of 31 bytes with a header of two (Core, Vol 6 Part B
    /// 2.3.1.3).
    static func cut(_ name: String) -> String {
        var cut = name
        while cut.utf8.count > 29 { cut.removeLast() }
        return cut
    }
}
