import Groundwork

/// The gzip format (RFC 1952), with nothing compressed.
enum Gzip {
    static func stored(_ content: [UInt8]) -> [UInt8] {
        // Deflate, no name, no time, by Unix.
        var bytes: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]
        bytes += StoredBlocks.stream(of: content)
        bytes += little(CRC32.checksum(content))
        return bytes + little(UInt32(truncatingIfNeeded: content.count))
    }

    private static func little(_ number: UInt32) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian, Array.init)
    }
}
