/// The checksum CRC-32 (RFC 1952 section 8), which PNG pictures have too (ISO/IEC 15948 annex D).
public enum CRC32 {
    public static func checksum(_ bytes: [UInt8]) -> UInt32 {
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
