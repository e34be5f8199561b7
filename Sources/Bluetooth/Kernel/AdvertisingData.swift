/// The fields of an advertisement, sent or received (Core Specification Supplement, Part A 1).
struct AdvertisingData: Equatable {
    /// Size of a legacy advertisement or scan response, in bytes (Vol 6 Part B 2.3.1.2).
    static let capacity = 31

    private(set) var services: [BluetoothUUID] = []
    private(set) var name: String?

    private enum Field {
        static let flags: UInt8 = 0x01
        static let services16: ClosedRange<UInt8> = 0x02...0x03
        static let services32: ClosedRange<UInt8> = 0x04...0x05
        static let services128: ClosedRange<UInt8> = 0x06...0x07
        static let shortName: UInt8 = 0x08
        static let fullName: UInt8 = 0x09
    }

    /// Parses received data. Parsing ends at a field that claims to be longer than the rest.
    init(parsing bytes: some Sequence<UInt8>) {
        var reader = PacketReader(bytes)
        while let length = reader.byte(), length > 0, var field = reader.take(Int(length)) {
            let kind = field.removeFirst()
            switch kind {
            case Field.services16: read(2, of: field)
            case Field.services32: read(4, of: field)
            case Field.services128: read(16, of: field)
            case Field.fullName: name = String(decoding: field, as: UTF8.self)
            case Field.shortName where name == nil: name = String(decoding: field, as: UTF8.self)
            default: break
            }
        }
    }

    private mutating func read(_ width: Int, of field: ArraySlice<UInt8>) {
        var rest = field
        while rest.count >= width {
            if let service = BluetoothUUID(onAir: rest.prefix(width)) { services.append(service) }
            rest = rest.dropFirst(width)
        }
    }

    /// The advertisement: an LE-only device that is generally discoverable, and the service.
    ///
    /// It states "BR/EDR not supported" even for adapters that do both: phones then connect over LE, where the
    /// service is.
    static func packet(advertising service: BluetoothUUID) -> [UInt8] {
        [2, Field.flags, 0x06, 17, Field.services128.upperBound] + service.bytes.reversed()
    }

    /// The scan response: the name, shortened to what fits.
    static func scanResponse(name: String?) -> [UInt8] {
        guard let name, !name.isEmpty else { return [] }
        var fitting: [UInt8] = []
        for scalar in name.unicodeScalars {
            let bytes = UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
            guard fitting.count + bytes.count <= capacity - 2 else { break }
            fitting += bytes
        }
        let isWhole = fitting.count == name.utf8.count
        return [UInt8(fitting.count + 1), isWhole ? Field.fullName : Field.shortName] + fitting
    }
}

extension BluetoothUUID {
    /// - Parameter bytes: 2, 4 or 16, least significant first, as sent over the air
    fileprivate init?(onAir bytes: ArraySlice<UInt8>) {
        guard bytes.count == 4 else {
            self.init(attributeBytes: bytes)
            return
        }
        self.init(bytes: bytes.reversed() + BluetoothUUID(short: 0).bytes.dropFirst(4))
    }
}
