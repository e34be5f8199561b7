import Cryptography

/// Hashes of M-Pin (MPIN 2.3).
enum MPinHash {
    /// SHA-256 of the bytes, behind a number in 4 bytes if that is above 0.
    ///
    /// The type bounds the number: the reference code takes 2³¹ and more as negative and leaves it out.
    static func hash(_ bytes: [UInt8], after number: Int32 = 0) -> [UInt8] {
        guard number > 0 else { return SHA256.hash(bytes) }
        return SHA256.hash(withUnsafeBytes(of: number.bigEndian, Array.init) + bytes)
    }
}
