/// An advertisement received.
public struct Sighting: Sendable, Equatable {
    public var address: BluetoothAddress
    /// dBm.
    public var rssi: Int
    public var name: String?

    public init(address: BluetoothAddress, rssi: Int, name: String? = nil) {
        self.address = address
        self.rssi = rssi
        self.name = name
    }
}

/// A characteristic found on a peripheral.
public struct RemoteCharacteristic: Sendable, Hashable {
    public var uuid: BluetoothUUID
    public var properties: CharacteristicProperties
    /// Whether it has a Client Characteristic Configuration, without which nothing can be enabled.
    public var hasConfigurationDescriptor: Bool
    /// The handle of the value, with the kernel's transport; otherwise 0.
    public var handle: UInt16
    /// The D-Bus path, with bluetoothd; otherwise `nil`.
    public var path: String?

    public init(
        uuid: BluetoothUUID, properties: CharacteristicProperties, hasConfigurationDescriptor: Bool, handle: UInt16 = 0,
        path: String? = nil
    ) {
        self.uuid = uuid
        self.properties = properties
        self.hasConfigurationDescriptor = hasConfigurationDescriptor
        self.handle = handle
        self.path = path
    }
}

/// A notification or an indication.
public struct RemoteValue: Sendable, Equatable {
    public var characteristic: BluetoothUUID
    public var bytes: [UInt8]

    public init(characteristic: BluetoothUUID, bytes: [UInt8]) {
        self.characteristic = characteristic
        self.bytes = bytes
    }
}

/// A connection to a peripheral, this board being the central. Every call fails once it has ended.
public protocol RemotePeripheral: Sendable {
    /// Finds a characteristic.
    ///
    /// - Returns: `nil` if the service or the characteristic does not exist
    func discover(service: BluetoothUUID, characteristic: BluetoothUUID) async throws(BluetoothError)
        -> RemoteCharacteristic?

    /// Enables notifications, or indications if there is nothing else.
    ///
    /// - Returns: `false` if the characteristic has no descriptor for it, or the peripheral refuses; values that are
    ///   sent anyway are still in ``values``, if the transport supports it
    func subscribe(_ characteristic: RemoteCharacteristic) async throws(BluetoothError) -> Bool

    /// Notifications and indications, for one reader. Ends with the connection.
    var values: AsyncStream<RemoteValue> { get }

    /// - Parameter value: at most ``mtu`` - 3 bytes
    /// - Throws: ``BluetoothError/tooLong``, ``BluetoothError/att(_:operation:)`` if the peripheral refuses
    func write(_ value: [UInt8], to characteristic: RemoteCharacteristic, withResponse: Bool)
        async throws(BluetoothError)

    /// Bytes of the longest packet of the attribute protocol.
    var mtu: Int { get async }

    func close() async
}
