/// A command to the kernel's Bluetooth management (BlueZ, `doc/mgmt-api.txt`).
struct ManagementCommand: Equatable, Sendable {
    /// The kernel's number of an adapter: `hci1` is 1.
    typealias Index = UInt16

    /// The index of commands that do not concern an adapter.
    static let noIndex: Index = 0xffff

    let opcode: UInt16
    let index: Index
    let parameters: [UInt8]
    /// Names the command in errors.
    let operation: String

    /// The command in the form of the control channel: a header of three little-endian numbers, then the parameters.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: opcode)
        bytes.append(littleEndian: index)
        bytes.append(littleEndian: UInt16(parameters.count))
        return bytes + parameters
    }

    private init(_ opcode: UInt16, _ operation: String, index: Index = noIndex, _ parameters: [UInt8] = []) {
        (self.opcode, self.index, self.parameters, self.operation) = (opcode, index, parameters, operation)
    }

    static let readIndexList = Self(0x0003, "list the adapters")

    static func readInformation(_ index: Index) -> Self { Self(0x0004, "read the adapter's state", index: index) }

    static func setPowered(_ index: Index) -> Self { Self(0x0005, "power the adapter", index: index, [1]) }

    static func setUnpowered(_ index: Index) -> Self { Self(0x0005, "switch the adapter off", index: index, [0]) }

    static func setLowEnergy(_ index: Index) -> Self { Self(0x000D, "switch Low Energy on", index: index, [1]) }

    /// Allows centrals to pair.
    static func setBondable(_ index: Index) -> Self { Self(0x0009, "allow pairing", index: index, [1]) }

    /// Simple Pairing of BR/EDR, without which the kernel refuses ``setSecureConnections(_:)`` for adapters that do
    /// both.
    static func setSimplePairing(_ index: Index) -> Self { Self(0x000B, "switch Simple Pairing on", index: index, [1]) }

    static func setSecureConnections(_ index: Index) -> Self {
        Self(0x002D, "switch LE Secure Connections on", index: index, [1])
    }

    /// There is neither a display nor a keyboard to pair with.
    static func setNoInputNoOutput(_ index: Index) -> Self {
        Self(0x0018, "set what pairing can use", index: index, [3])
    }

    static func loadNoLongTermKeys(_ index: Index) -> Self { Self(0x0013, "drop old keys", index: index, [0, 0]) }

    static func loadNoIdentities(_ index: Index) -> Self { Self(0x0030, "drop old identities", index: index, [0, 0]) }

    /// Continues a pairing.
    static func confirm(_ index: Index, _ address: BluetoothAddress) -> Self {
        Self(0x001C, "continue pairing", index: index, address.managementBytes)
    }

    /// Forgets the keys of a device.
    static func unpair(_ index: Index, _ address: BluetoothAddress, hangingUp: Bool) -> Self {
        Self(0x001B, "forget a device", index: index, address.managementBytes + [hangingUp ? 1 : 0])
    }

    /// Makes the adapter use changing addresses that only holders of the key can resolve. Only allowed while it is off.
    ///
    /// - Parameter key: 16 bytes
    static func setPrivacy(_ index: Index, key: [UInt8]) -> Self {
        Self(0x002F, "hide the adapter's address", index: index, [1] + key)
    }

    static func disconnect(_ index: Index, _ address: BluetoothAddress) -> Self {
        Self(0x0014, "hang up", index: index, address.managementBytes)
    }

    static func readAdvertisingFeatures(_ index: Index) -> Self {
        Self(0x003D, "read what can be advertised", index: index)
    }

    /// Connectable, with the transmit power, until it is removed.
    static func addAdvertising(_ index: Index, instance: UInt8, data: [UInt8], scanResponse: [UInt8]) -> Self {
        var parameters = [instance]
        parameters.append(littleEndian: UInt32(1 << 0 | 1 << 4))
        parameters += [0, 0, 0, 0]
        parameters += [UInt8(data.count), UInt8(scanResponse.count)]
        return Self(0x003E, "advertise", index: index, parameters + data + scanResponse)
    }

    static func removeAdvertising(_ index: Index, instance: UInt8) -> Self {
        Self(0x003F, "stop advertising", index: index, [instance])
    }

    /// The advertisements to look for: over LE, from public and random addresses.
    private static let lowEnergy: UInt8 = 1 << 1 | 1 << 2

    /// Reports devices that advertise the service, at any signal strength, for about ten seconds.
    static func startServiceDiscovery(_ index: Index, service: BluetoothUUID) -> Self {
        let anyStrength = UInt8(bitPattern: 127)
        return Self(0x003A, "scan", index: index, [lowEnergy, anyStrength, 1, 0] + service.bytes.reversed())
    }

    static func stopDiscovery(_ index: Index) -> Self { Self(0x0024, "stop scanning", index: index, [lowEnergy]) }
}

extension BluetoothAddress {
    /// In the kernel's order, least significant byte first.
    var kernelBytes: [UInt8] { bytes.reversed() }

    /// `BDADDR_LE_PUBLIC` or `BDADDR_LE_RANDOM`.
    var kernelKind: UInt8 { kind == .public ? 1 : Self.randomKind }

    static let randomKind: UInt8 = 2

    var managementBytes: [UInt8] { kernelBytes + [kernelKind] }

    /// `nil` for the address kinds of BR/EDR and for invalid ones.
    init?(kernelBytes: some Collection<UInt8>, kind: UInt8) {
        guard kernelBytes.count == 6, kind == 1 || kind == Self.randomKind else { return nil }
        self.init(bytes: Array(kernelBytes.reversed()), kind: kind == 1 ? .public : .random)
    }
}
