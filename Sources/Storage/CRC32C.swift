/// The checksum CRC-32C (RFC 3720 section 12.1), eight bytes at a time.
public enum CRC32C {
    /// 8 tables of 256: the first for one byte, each further one for a byte that is followed by one byte more.
    private static let tables: [UInt32] = {
        var tables = [UInt32](repeating: 0, count: 8 * 256)
        for byte in 0..<256 {
            var value = UInt32(byte)
            for _ in 0..<8 { value = value >> 1 ^ (value & 1 == 1 ? 0x82f6_3b78 : 0) }
            tables[byte] = value
        }
        for index in 256..<tables.count {
            let shorter = tables[index - 256]
            tables[index] = shorter >> 8 ^ tables[Int(shorter & 0xff)]
        }
        return tables
    }()

    public static func checksum(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        tables.withUnsafeBufferPointer { tables in
            // Eight tables, and each index into them is a byte: never out of bounds.
            let table = tables.baseAddress!
            var value = ~UInt32(0)
            var index = 0
            while index + 8 <= bytes.count {
                let eight = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
                let low = UInt32(truncatingIfNeeded: eight) ^ value
                let high = UInt32(truncatingIfNeeded: eight >> 32)
                value = table[7 * 256 + Int(low & 0xff)] ^ table[6 * 256 + Int(low >> 8 & 0xff)]
                value ^= table[5 * 256 + Int(low >> 16 & 0xff)] ^ table[4 * 256 + Int(low >> 24)]
                value ^= table[3 * 256 + Int(high & 0xff)] ^ table[2 * 256 + Int(high >> 8 & 0xff)]
                value ^= table[256 + Int(high >> 16 & 0xff)] ^ table[Int(high >> 24)]
                index += 8
            }
            while index < bytes.count {
                value = value >> 8 ^ table[Int((value ^ UInt32(bytes[index])) & 0xff)]
                index += 1
            }
            return ~value
        }
    }
}
