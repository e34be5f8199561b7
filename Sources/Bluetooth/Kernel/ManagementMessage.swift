/// A message of the kernel's Bluetooth management: an answer to a command, or an event of an adapter.
///
/// A message shorter than the kernel's definition is invalid. Of a longer one the known part is read: the kernel may
/// append fields.
struct ManagementMessage: Equatable, Sendable {
    enum Event: Equatable, Sendable {
        /// - Parameter parameters: empty if the command failed.
        case answer(opcode: UInt16, status: ManagementStatus, parameters: [UInt8])
        case adapterAdded
        case adapterRemoved
        case settings(AdapterSettings)
        case connected(BluetoothAddress)
        case disconnected(BluetoothAddress)
        case found(BluetoothAddress, rssi: Int, data: AdvertisingData)
        case discovering(Bool)
        case advertisingRemoved(instance: UInt8)
        /// A device wants to pair, without numbers to compare.
        case confirmation(BluetoothAddress)
        case longTermKey(BluetoothAddress, LongTermKey)
        /// The identity of a device that has connected from a private address.
        case identity(BluetoothAddress, from: BluetoothAddress)
        case pairingFailed(BluetoothAddress)
        /// An event that this module does not use.
        case other(UInt16)
    }

    let event: Event
    let index: ManagementCommand.Index

    /// The largest message that is read, in bytes; the kernel's are smaller.
    static let limit = 4096

    init?(parsing bytes: some Sequence<UInt8>) {
        var reader = PacketReader(bytes)
        guard let code = reader.uint16(), let index = reader.uint16(), let length = reader.uint16(),
            let parameters = reader.take(Int(length)), let event = Event(code, parameters)
        else { return nil }
        (self.event, self.index) = (event, index)
    }
}

extension ManagementMessage.Event {
    fileprivate init?(_ code: UInt16, _ parameters: ArraySlice<UInt8>) {
        var reader = PacketReader(parameters)
        switch code {
        case 0x0001, 0x0002:
            guard let opcode = reader.uint16(), let code = reader.byte() else { return nil }
            let status = ManagementStatus(rawValue: code)
            self = .answer(opcode: opcode, status: status, parameters: status == .success ? Array(reader.rest) : [])
        case 0x0004: self = .adapterAdded
        case 0x0005: self = .adapterRemoved
        case 0x0006:
            guard let settings = reader.uint32() else { return nil }
            self = .settings(AdapterSettings(rawValue: settings))
        case 0x000A:
            // The key itself follows; it is not needed.
            guard let hint = reader.byte(), let bytes = reader.take(6), let addressKind = reader.byte(),
                let kind = reader.byte(), reader.byte() != nil, let size = reader.byte(), reader.rest.count >= 26
            else { return nil }
            guard let address = BluetoothAddress(kernelBytes: bytes, kind: addressKind) else {
                self = .other(code)
                return
            }
            self = .longTermKey(address, LongTermKey(isKept: hint == 1, kind: kind, size: size))
        case 0x000B, 0x000C, 0x0011:
            guard let bytes = reader.take(6), let kind = reader.byte() else { return nil }
            guard let address = BluetoothAddress(kernelBytes: bytes, kind: kind) else {
                self = .other(code)
                return
            }
            self =
                code == 0x000B ? .connected(address) : code == 0x000C ? .disconnected(address) : .pairingFailed(address)
        case 0x000F:
            guard let bytes = reader.take(6), let kind = reader.byte(), let hint = reader.byte() else { return nil }
            guard let address = BluetoothAddress(kernelBytes: bytes, kind: kind), hint == 1 else {
                self = .other(code)
                return
            }
            self = .confirmation(address)
        case 0x0018:
            guard reader.byte() != nil, let former = reader.take(6), let bytes = reader.take(6),
                let kind = reader.byte()
            else { return nil }
            guard let address = BluetoothAddress(kernelBytes: bytes, kind: kind),
                let resolved = BluetoothAddress(kernelBytes: former, kind: BluetoothAddress.randomKind)
            else {
                self = .other(code)
                return
            }
            self = .identity(address, from: resolved)
        case 0x0012:
            guard let bytes = reader.take(6), let kind = reader.byte(), let rssi = reader.byte(),
                reader.uint32() != nil,
                let length = reader.uint16(), let data = reader.take(Int(length))
            else { return nil }
            guard let address = BluetoothAddress(kernelBytes: bytes, kind: kind) else {
                self = .other(code)
                return
            }
            self = .found(address, rssi: Int(Int8(bitPattern: rssi)), data: AdvertisingData(parsing: data))
        case 0x0013:
            guard reader.byte() != nil, let isOn = reader.byte() else { return nil }
            self = .discovering(isOn != 0)
        case 0x0024:
            guard let instance = reader.byte() else { return nil }
            self = .advertisingRemoved(instance: instance)
        default: self = .other(code)
        }
    }
}

/// The settings that an adapter supports, or has at present.
struct AdapterSettings: OptionSet, Equatable, Sendable {
    let rawValue: UInt32

    static let powered = Self(rawValue: 1 << 0)
    static let bondable = Self(rawValue: 1 << 4)
    static let simplePairing = Self(rawValue: 1 << 6)
    /// BR/EDR.
    static let classic = Self(rawValue: 1 << 7)
    static let lowEnergy = Self(rawValue: 1 << 9)
    static let secureConnections = Self(rawValue: 1 << 11)
    static let privacy = Self(rawValue: 1 << 13)
    static let staticAddress = Self(rawValue: 1 << 15)
}

/// How a command ended.
struct ManagementStatus: RawRepresentable, Equatable, Sendable {
    let rawValue: UInt8

    static let success = Self(rawValue: 0x00)
    static let unknownCommand = Self(rawValue: 0x01)
    static let busy = Self(rawValue: 0x0a)
    static let rejected = Self(rawValue: 0x0b)
    static let notSupported = Self(rawValue: 0x0c)
    static let notPowered = Self(rawValue: 0x0f)
    static let invalidIndex = Self(rawValue: 0x11)
    static let blocked = Self(rawValue: 0x12)
    static let permissionDenied = Self(rawValue: 0x14)

    /// The status in the words of `doc/mgmt-api.txt`.
    var words: String {
        let known = [
            "success", "unknown command", "not connected", "failed", "connect failed", "authentication failed",
            "not paired", "no resources", "timeout", "already connected", "busy", "rejected", "not supported",
            "invalid parameters", "disconnected", "not powered", "cancelled", "invalid index", "blocked through rfkill",
            "already paired", "permission denied",
        ]
        return known.indices.contains(Int(rawValue)) ? known[Int(rawValue)] : "status \(rawValue)"
    }
}

/// The answer to "read controller information".
struct AdapterInformation: Equatable, Sendable {
    /// All zero if the adapter has no public address.
    let addressBytes: [UInt8]
    let supported: AdapterSettings
    let current: AdapterSettings

    init?(parsing parameters: some Sequence<UInt8>) {
        var reader = PacketReader(parameters)
        guard let address = reader.take(6), reader.take(3) != nil, let supported = reader.uint32(),
            let current = reader.uint32()
        else { return nil }
        addressBytes = address.reversed()
        self.supported = AdapterSettings(rawValue: supported)
        self.current = AdapterSettings(rawValue: current)
    }

    /// The adapter's address as other LE devices see it.
    var identity: BluetoothAddress {
        BluetoothAddress(bytes: addressBytes, kind: current.contains(.staticAddress) ? .random : .public)
    }

    /// Parses the answer to "read controller index list".
    static func indexes(parsing parameters: some Sequence<UInt8>) -> [ManagementCommand.Index]? {
        var reader = PacketReader(parameters)
        guard let count = reader.uint16() else { return nil }
        var indexes: [ManagementCommand.Index] = []
        for _ in 0..<count {
            guard let index = reader.uint16() else { return nil }
            indexes.append(index)
        }
        return indexes.sorted()
    }
}
