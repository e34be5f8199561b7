/// The attributes of this board: generic access, generic attribute, and the application's service (Bluetooth Core,
/// Vol 3 Part G 2.6). It does not change while being served, and is shared by all bearers.
struct AttributeDatabase: Sendable {
    enum Content: Sendable, Equatable {
        /// Readable by every client, writable by none.
        case fixed([UInt8])
        /// The value of a characteristic, by its index in ``AttributeDatabase/characteristics``.
        case value(Int)
        /// The Client Characteristic Configuration of a characteristic.
        case configuration(Int)
    }

    struct Attribute: Sendable {
        let handle: UInt16
        let type: BluetoothUUID
        let content: Content
        /// The last handle of the service it declares; otherwise its own handle.
        var groupEnd: UInt16
    }

    /// Handle 1 and up, without gaps.
    private(set) var attributes: [Attribute] = []
    private(set) var characteristics: [LocalCharacteristic] = []
    private(set) var valueHandles: [UInt16] = []
    /// Index of the application's first characteristic; those before it are this board's own.
    private(set) var firstOfApplication = 0

    /// - Parameters:
    ///   - service: `nil` on a connection made by this board
    ///   - deviceName: cut at 248 bytes (Part C 12.1)
    ///   - appearance: 0 if unknown (Part C 12.2)
    init(service: LocalService?, deviceName: String, appearance: UInt16 = 0) {
        declare(BluetoothUUID(short: GATTNumber.genericAccess)) { database in
            database.addFixed(GATTNumber.deviceName, Array(deviceName.utf8.prefix(248)))
            database.addFixed(GATTNumber.appearance, [UInt8(truncatingIfNeeded: appearance), UInt8(appearance >> 8)])
        }
        declare(BluetoothUUID(short: GATTNumber.genericAttribute)) { database in
            // With this characteristic, a client that is not bonded does not keep what it discovered beyond the
            // connection (Vol 3 Part G 2.5.2).
            database.add(
                LocalCharacteristic(uuid: BluetoothUUID(short: GATTNumber.serviceChanged), properties: .indicate))
        }
        firstOfApplication = characteristics.count
        guard let service else { return }
        declare(service.uuid) { database in
            for characteristic in service.characteristics { database.add(characteristic) }
        }
    }

    subscript(handle: UInt16) -> Attribute? {
        handle > 0 && Int(handle) <= attributes.count ? attributes[Int(handle) - 1] : nil
    }

    /// The attributes of a range of handles, which may reach beyond the last.
    subscript(range: ClosedRange<UInt16>) -> ArraySlice<Attribute> {
        attributes.dropFirst(Int(range.lowerBound) - 1).prefix(Int(range.upperBound) - Int(range.lowerBound) + 1)
    }

    /// Its index in ``characteristics``, if it is one of the application's.
    func index(of uuid: BluetoothUUID) -> Int? {
        characteristics.indices.dropFirst(firstOfApplication).first { characteristics[$0].uuid == uuid }
    }

    private mutating func declare(_ service: BluetoothUUID, _ fill: (inout AttributeDatabase) -> Void) {
        let place = attributes.count
        append(GATTNumber.primaryService, .fixed(service.attributeBytes))
        fill(&self)
        attributes[place].groupEnd = UInt16(attributes.count)
    }

    private mutating func append(_ type: UInt16, _ content: Content) { append(BluetoothUUID(short: type), content) }

    private mutating func append(_ type: BluetoothUUID, _ content: Content) {
        let handle = UInt16(attributes.count + 1)
        attributes.append(Attribute(handle: handle, type: type, content: content, groupEnd: handle))
    }

    private mutating func appendDeclaration(_ uuid: BluetoothUUID, _ properties: CharacteristicProperties) {
        var declaration = [properties.rawValue]
        declaration.append(littleEndian: UInt16(attributes.count + 2))
        append(GATTNumber.characteristic, .fixed(declaration + uuid.attributeBytes))
    }

    private mutating func addFixed(_ uuid: UInt16, _ value: [UInt8]) {
        appendDeclaration(BluetoothUUID(short: uuid), .read)
        append(uuid, .fixed(value))
    }

    private mutating func add(_ characteristic: LocalCharacteristic) {
        let index = characteristics.count
        characteristics.append(characteristic)
        appendDeclaration(characteristic.uuid, characteristic.properties)
        append(characteristic.uuid, .value(index))
        valueHandles.append(UInt16(attributes.count))
        guard !characteristic.properties.isDisjoint(with: [.notify, .indicate]) else { return }
        append(GATTNumber.configuration, .configuration(index))
    }
}
