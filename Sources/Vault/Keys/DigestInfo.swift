import Cryptography

/// What RSASSA-PKCS1-v1_5 signs: the digest with the name of its hash (RFC 8017 section 9.2).
enum DigestInfo {
    /// The DER coding of a DigestInfo; `nil` if the digest has not the hash's length.
    static func encode(digest: [UInt8], hash: Digest) -> [UInt8]? {
        guard digest.count == hash.byteCount else { return nil }
        // Notes of RFC 8017 section 9.2: only the lengths and the last byte of the object identifier differ.
        let last: UInt8 =
            switch hash {
            case .sha256: 1
            case .sha384: 2
            case .sha512: 3
            }
        let count = UInt8(hash.byteCount)
        return [0x30, 0x11 + count, 0x30, 0x0D, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, last]
            + [0x05, 0x00, 0x04, count] + digest
    }

    /// The whole block that the private key's exponent is applied to, as long as the modulus (EMSA-PKCS1-v1_5).
    ///
    /// - Returns: `nil` if the digest has not the hash's length, or the modulus is too short for it.
    static func block(digest: [UInt8], hash: Digest, modulusBits: Int) -> [UInt8]? {
        guard let info = encode(digest: digest, hash: hash) else { return nil }
        let padding = (modulusBits + 7) / 8 - info.count - 3
        guard padding >= 8 else { return nil }
        return [0x00, 0x01] + [UInt8](repeating: 0xFF, count: padding) + [0x00] + info
    }
}

extension Digest {
    /// The length of a digest, in bytes.
    var byteCount: Int {
        switch self {
        case .sha256: 32
        case .sha384: 48
        case .sha512: 64
        }
    }
}
