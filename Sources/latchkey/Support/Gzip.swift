/// The gzip format (RFC 1952) around stored blocks (RFC 1951 section 3.2.4): nothing is compressed, and no library is
/// needed.
enum Gzip {
    /// The most bytes of a stored block.
    private static let blockLimit = 65_535

    static func stored(_ content: [UInt8]) -> [UInt8] {
        // Deflate, no name, no time, by Unix.
        var bytes: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]
        var rest = content[...]
        repeat {
            let block = rest.prefix(blockLimit)
            rest = rest.dropFirst(blockLimit)
            let length = UInt16(block.count)
            bytes.append(rest.isEmpty ? 1 : 0)
            bytes += little(length) + little(~length) + block
        } while !rest.isEmpty
        return bytes + little(checksum(content)) + little(UInt32(truncatingIfNeeded: content.count))
    }

    private static func little(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian, Array.init)
    }

    /// CRC-32 (RFC 1952 section 8).
    static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var sum = UInt32.max
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 {
                let isOdd = sum & 1 == 1
                sum >>= 1
                if isOdd { sum ^= 0xEDB8_8320 }
            }
        }
        return ~sum
    }
}
