import Groundwork

/// A square PNG picture (ISO/IEC 15948) in black and white, with one bit per pixel; not compressed, because it is small
/// and read locally.
struct PNGPicture {
    let side: Int
    private var scanlines: [UInt8] = []

    init(side: Int) { self.side = side }

    /// - Parameter line: the pixels of one row, 1 for white, the leftmost in the highest bit.
    mutating func append(_ line: [UInt8]) {
        scanlines.append(0)  // filter: none
        scanlines += line
    }

    var bytes: [UInt8] {
        [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
            + Self.chunk("IHDR", Self.bigEndian(UInt32(side)) + Self.bigEndian(UInt32(side)) + [1, 0, 0, 0, 0])
            + Self.chunk("IDAT", Self.stored(scanlines))
            + Self.chunk("IEND", [])
    }

    private static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
        let body = Array(name.utf8) + content
        return bigEndian(UInt32(content.count)) + body + bigEndian(CRC32.checksum(body))
    }

    /// A zlib stream (RFC 1950), with nothing compressed.
    private static func stored(_ content: [UInt8]) -> [UInt8] {
        [0x78, 0x01] + StoredBlocks.stream(of: content) + bigEndian(adler(content))
    }

    private static func bigEndian(_ value: UInt32) -> [UInt8] {
        [UInt8(value >> 24), UInt8(value >> 16 & 0xFF), UInt8(value >> 8 & 0xFF), UInt8(value & 0xFF)]
    }

    private static func adler(_ bytes: [UInt8]) -> UInt32 {
        let (low, high) = bytes.reduce((UInt32(1), UInt32(0))) { sums, byte in
            let low = (sums.0 + UInt32(byte)) % 65_521
            return (low, (sums.1 + low) % 65_521)
        }
        return high << 16 | low
    }
}
