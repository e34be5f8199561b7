import Groundwork

/// A 128-bit UUID of a service, a characteristic or a descriptor (Bluetooth Core, Vol 3 Part B 2.5.1).
///
/// The 16- and 32-bit forms are expanded on the Bluetooth base UUID, so that every form of one UUID is equal.
public struct BluetoothUUID: Sendable, Hashable, CustomStringConvertible {
    private static let base: [UInt8] = [0x00, 0x00, 0x10, 0x00, 0x80, 0x00, 0x00, 0x80, 0x5F, 0x9B, 0x34, 0xFB]

    /// 16 bytes, most significant first.
    public let bytes: [UInt8]

    /// Reads 4, 8 or 32 hexadecimal digits; the latter with or without the four dashes.
    public init?(_ text: String) {
        var digits = text
        if text.utf8.count == 36 {
            let parts = text.split(separator: "-", omittingEmptySubsequences: false)
            guard parts.map(\.utf8.count) == [8, 4, 4, 4, 12] else { return nil }
            digits = parts.joined()
        }
        guard let decoded = Hex.decode(digits) else { return nil }
        switch decoded.count {
        case 16: bytes = decoded
        case 4: bytes = decoded + Self.base
        case 2: bytes = [0, 0] + decoded + Self.base
        default: return nil
        }
    }

    /// An assigned number of the Bluetooth SIG.
    public init(short: UInt16) { bytes = [0, 0, UInt8(short >> 8), UInt8(truncatingIfNeeded: short)] + Self.base }

    /// - Parameter bytes: 16, most significant first
    init(bytes: [UInt8]) {
        precondition(bytes.count == 16, "a UUID has 16 bytes")
        self.bytes = bytes
    }

    /// - Parameter attributeBytes: 2 or 16, least significant first, as in ATT (Vol 3 Part F 3.2.1)
    init?(attributeBytes: some Collection<UInt8>) {
        let ordered = Array(attributeBytes.reversed())
        switch ordered.count {
        case 2: self.init(short: UInt16(ordered[0]) << 8 | UInt16(ordered[1]))
        case 16: self.init(bytes: ordered)
        default: return nil
        }
    }

    /// The shortest form that ATT accepts, 2 or 16 bytes, least significant first.
    var attributeBytes: [UInt8] {
        shortForm == nil ? bytes.reversed() : [bytes[3], bytes[2]]
    }

    /// The 16-bit form, if there is one.
    public var shortForm: UInt16? {
        guard bytes[0] == 0, bytes[1] == 0, bytes[4...].elementsEqual(Self.base) else { return nil }
        return UInt16(bytes[2]) << 8 | UInt16(bytes[3])
    }

    /// The long form, in lower case and with dashes.
    public var description: String {
        [bytes[..<4], bytes[4..<6], bytes[6..<8], bytes[8..<10], bytes[10...]].map { Hex.encode($0) }.joined(
            separator: "-")
    }
}
