import Cryptography

/// What RSASSA-PSS applies the private key's exponent to (EMSA-PSS-ENCODE, RFC 8017 section 9.1.1), for places that
/// only do the exponent, or choose a salt of another length.
enum PSSBlock {
    /// A block with a random salt, as long as the modulus. The mask generation function has the same hash.
    ///
    /// - Returns: `nil` if the digest has not the hash's length, or the modulus is too short for the salt.
    /// - Throws: `CryptographyError` when the system has no random bytes.
    static func encode(
        digest: [UInt8], hash: Digest, saltBytes: Int, modulusBits: Int
    ) throws(CryptographyError) -> [UInt8]? {
        guard (0...modulusBits / 8).contains(saltBytes) else { return nil }
        return encode(digest: digest, hash: hash, salt: try Random.bytes(saltBytes), modulusBits: modulusBits)
    }

    /// A block with this salt; `nil` as above.
    static func encode(digest: [UInt8], hash: Digest, salt: [UInt8], modulusBits: Int) -> [UInt8]? {
        // A multiple of 8 bits plus 1 leaves a first byte of the modulus that the block does not reach.
        let bits = modulusBits - 1
        let count = (bits + 7) / 8
        let padding = count - salt.count - hash.byteCount - 2
        guard digest.count == hash.byteCount, padding >= 0 else { return nil }
        let seed = hash.hash([UInt8](repeating: 0, count: 8) + digest + salt)
        let plain = [UInt8](repeating: 0, count: padding) + [0x01] + salt
        var masked = zip(plain, mask(of: seed, hash, count: plain.count)).map { $0 ^ $1 }
        masked[0] &= 0xFF >> (8 * count - bits)
        return [UInt8](repeating: 0, count: (modulusBits + 7) / 8 - count) + masked + seed + [0xBC]
    }

    /// MGF1 (RFC 8017 appendix B.2.1).
    private static func mask(of seed: [UInt8], _ hash: Digest, count: Int) -> [UInt8] {
        var mask: [UInt8] = []
        var counter: UInt32 = 0
        while mask.count < count {
            mask += hash.hash(seed + withUnsafeBytes(of: counter.bigEndian, Array.init))
            counter += 1
        }
        return Array(mask.prefix(count))
    }
}
