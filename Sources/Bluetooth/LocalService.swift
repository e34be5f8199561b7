/// The operations that a characteristic supports (Bluetooth Core, Vol 3 Part G 3.3.1.1).
public struct CharacteristicProperties: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let broadcast = Self(rawValue: 0x01)
    public static let read = Self(rawValue: 0x02)
    public static let writeWithoutResponse = Self(rawValue: 0x04)
    public static let write = Self(rawValue: 0x08)
    public static let notify = Self(rawValue: 0x10)
    public static let indicate = Self(rawValue: 0x20)
    public static let signedWrite = Self(rawValue: 0x40)
    public static let extended = Self(rawValue: 0x80)
}

/// A characteristic served by this board.
public struct LocalCharacteristic: Sendable, Equatable {
    public var uuid: BluetoothUUID
    public var properties: CharacteristicProperties
    /// Only for bonded centrals over an encrypted link (LE Secure Connections).
    public var requiresEncryption: Bool

    public init(uuid: BluetoothUUID, properties: CharacteristicProperties, requiresEncryption: Bool = false) {
        self.uuid = uuid
        self.properties = properties
        self.requiresEncryption = requiresEncryption
    }
}

/// A primary service served by this board.
public struct LocalService: Sendable, Equatable {
    public var uuid: BluetoothUUID
    public var characteristics: [LocalCharacteristic]

    public init(uuid: BluetoothUUID, characteristics: [LocalCharacteristic]) {
        self.uuid = uuid
        self.characteristics = characteristics
    }
}

/// What is advertised: connectable, the service in the advertising data, the name in the scan response.
public struct Advertisement: Sendable, Equatable {
    public var service: BluetoothUUID
    /// Shortened to what fits.
    public var localName: String?

    public init(service: BluetoothUUID, localName: String? = nil) {
        self.service = service
        self.localName = localName
    }
}
