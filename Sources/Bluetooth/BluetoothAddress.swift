import Groundwork

/// A device address (Bluetooth Core, Vol 6 Part B 1.3).
public struct BluetoothAddress: Sendable, Hashable, CustomStringConvertible {
    public enum Kind: Sendable, Hashable { case `public`, random }

    /// 6 bytes, most significant first.
    public let bytes: [UInt8]
    public let kind: Kind

    /// Reads six pairs of hexadecimal digits with colons between them.
    public init?(_ text: String, kind: Kind) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 6, parts.allSatisfy({ $0.utf8.count == 2 }), let decoded = Hex.decode(parts.joined())
        else {
            return nil
        }
        self.init(bytes: decoded, kind: kind)
    }

    /// - Parameter bytes: 6, most significant first
    init(bytes: [UInt8], kind: Kind) {
        precondition(bytes.count == 6, "an address has 6 bytes")
        self.bytes = bytes
        self.kind = kind
    }

    /// In upper case and with colons, without the kind.
    public var description: String { bytes.map { Hex.encode([$0]).uppercased() }.joined(separator: ":") }
}
