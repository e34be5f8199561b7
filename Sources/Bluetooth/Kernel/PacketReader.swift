/// Reads little-endian numbers from the front of untrusted bytes; returns `nil` if they end too soon.
struct PacketReader {
    private(set) var rest: ArraySlice<UInt8>

    init(_ bytes: some Sequence<UInt8>) { rest = ArraySlice(bytes) }

    mutating func byte() -> UInt8? { rest.popFirst() }

    mutating func uint16() -> UInt16? {
        take(2).map { UInt16($0[$0.startIndex]) | UInt16($0[$0.startIndex + 1]) << 8 }
    }

    mutating func uint32() -> UInt32? {
        take(4).map { $0.reversed().reduce(0) { $0 << 8 | UInt32($1) } }
    }

    mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        guard rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }
}

extension [UInt8] {
    mutating func append(littleEndian number: UInt16) {
        self += [UInt8(truncatingIfNeeded: number), UInt8(number >> 8)]
    }

    mutating func append(littleEndian number: UInt32) {
        append(littleEndian: UInt16(truncatingIfNeeded: number))
        append(littleEndian: UInt16(number >> 16))
    }
}
