import COpenSSL
import Groundwork

/// Random numbers from OpenSSL's generator, which the kernel seeds.
public enum Random {
    /// - Throws: ``CryptographyError`` when the system has no randomness to give.
    public static func bytes(_ count: Int) throws(CryptographyError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        try check("make random bytes", RAND_bytes_ex(nil, &bytes, bytes.count, 0))
        return bytes
    }

    /// A version 4 UUID in lower case (RFC 4122 section 4.4).
    /// - Throws: ``CryptographyError`` when the system has no randomness to give.
    public static func uuid() throws(CryptographyError) -> String {
        var bytes = try bytes(16)
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        let digits = Hex.encode(bytes)
        var text = ""
        for (index, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(index) { text.append("-") }
            text.append(digit)
        }
        return text
    }
}
