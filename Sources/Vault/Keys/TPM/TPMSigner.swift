import Cryptography

/// Signs with a key in a TPM. The key is loaded for each signature, and removed after it.
struct TPMSigner: ForeignKey {
    let chip: Chip
    let handle: TPMKeyHandle

    /// - Throws: ``ChipError``, or `CryptographyError` when the system has no random bytes for a salt.
    func sign(_ digest: UnsignedDigest) throws -> [UInt8] {
        let plan = try plan(for: digest)
        return try chip.run(named: handle.primaryName) { connection throws(ChipError) in
            let session = try connection.startSaltedSession()
            let key = try connection.load(handle.object, in: session)
            try connection.authorize(key, handle.authorization)
            switch plan {
            case .chip(let bytes, let scheme, let count):
                return try connection.sign(bytes, scheme, by: key, in: session).padded(to: count)
            case .block(let block): return try connection.applyExponent(to: block, by: key, in: session)
            }
        }
    }

    private enum Plan {
        /// - Parameter count: the bytes of a signature at least.
        case chip([UInt8], ChipScheme, count: Int)
        case block([UInt8])
    }

    private func plan(for digest: UnsignedDigest) throws -> Plan {
        guard digest.bytes.count == digest.hash.byteCount else { throw ChipError.signatureUnsupported }
        switch (handle.publicKey, digest.scheme) {
        case (.p256, .ecdsa):
            return .chip(Array(digest.bytes.prefix(SHA256.byteCount)), .ecdsa, count: 0)
        case (.rsa(let modulus), .pkcs1):
            let bits = 8 * modulus.count
            if isChipsOwn(digest.hash) { return .chip(digest.bytes, .pkcs1(digest.hash), count: modulus.count) }
            return try block(DigestInfo.block(digest: digest.bytes, hash: digest.hash, modulusBits: bits))
        case (.rsa(let modulus), .pss(let saltBytes)):
            let bits = 8 * modulus.count
            if saltBytes == digest.hash.byteCount, isChipsOwn(digest.hash), handle.ways.contains(.chip) {
                return .chip(digest.bytes, .pss(digest.hash), count: modulus.count)
            }
            guard handle.ways.contains(.block) else { throw ChipError.signatureUnsupported }
            return try block(
                PSSBlock.encode(
                    digest: digest.bytes, hash: digest.hash, saltBytes: saltBytes, modulusBits: bits))
        default: throw ChipError.signatureUnsupported
        }
    }

    /// Whether the chip codes a signature with this hash: all know SHA-256, few the longer ones, so blocks for those
    /// are made here where that works.
    private func isChipsOwn(_ hash: Digest) -> Bool { hash == .sha256 || !handle.ways.contains(.block) }

    private func block(_ bytes: [UInt8]?) throws -> Plan {
        guard let bytes else { throw ChipError.signatureUnsupported }
        return .block(bytes)
    }
}
