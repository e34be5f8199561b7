import COpenSSL

/// The cost of a passphrase guess (RFC 7914 section 2).
public struct ScryptCost: Sendable, Equatable {
    /// CPU and memory cost: a power of two above 1.
    public let n: Int
    /// Block size.
    public let r: Int
    /// Parallelization: how often the work is done.
    public let p: Int

    public init(n: Int, r: Int, p: Int) {
        self.n = n
        self.r = r
        self.p = p
    }

    /// Memory that one derivation needs, in bytes (RFC 7914 sections 5 and 6); `nil` for invalid parameters of scrypt.
    var memory: Int? {
        guard n > 1, n & (n - 1) == 0, n <= 1 << 24, (1...64).contains(r), (1...64).contains(p) else { return nil }
        return 128 * r * (n + p + 2)
    }
}

/// Derives keys from other secrets.
public enum KeyDerivation {
    /// The maximum memory for scrypt, in bytes: a cost read from a file must not stop the board.
    public static let scryptMemoryLimit = 256 << 20

    /// A key from a secret that is already hard to guess: HKDF with SHA-256 (RFC 5869).
    /// - Parameter count: at most 255 · 32 bytes.
    /// - Throws: ``CryptographyError``
    public static func hkdf(
        secret: SecretBytes, salt: [UInt8], info: [UInt8], count: Int
    ) throws(CryptographyError) -> SecretBytes {
        let operation = "derive a key by HKDF"
        guard secret.count > 0 else { throw .invalidParameter(operation: operation, reason: "the secret is empty") }
        guard (1...255 * SHA256.byteCount).contains(count) else {
            throw .invalidParameter(
                operation: operation, reason: "\(count) bytes were requested; 1 to 8160 are possible")
        }
        let context = try check(operation, EVP_PKEY_CTX_new_id(EVP_PKEY_HKDF, nil))
        defer { EVP_PKEY_CTX_free(context) }
        try check(operation, EVP_PKEY_derive_init(context))
        try check(operation, EVP_PKEY_CTX_set_hkdf_md(context, EVP_sha256()))
        try check(operation, EVP_PKEY_CTX_set1_hkdf_salt(context, salt, Int32(salt.count)))
        try check(
            operation,
            secret.withUnsafeBytes {
                EVP_PKEY_CTX_set1_hkdf_key(context, $0.assumingMemoryBound(to: UInt8.self).baseAddress, Int32($0.count))
            })
        try check(operation, EVP_PKEY_CTX_add1_hkdf_info(context, info, Int32(info.count)))
        return try SecretBytes(count: count) { key throws(CryptographyError) in
            var written = key.count
            try check(
                operation, EVP_PKEY_derive(context, key.assumingMemoryBound(to: UInt8.self).baseAddress, &written))
        }
    }

    /// A key from a passphrase: scrypt (RFC 7914). Its duration depends on `cost`; too long for the cooperative pool.
    /// - Throws: ``CryptographyError``, also for a cost beyond ``scryptMemoryLimit``.
    public static func scrypt(
        passphrase: SecretBytes, salt: [UInt8], cost: ScryptCost, count: Int
    ) throws(CryptographyError) -> SecretBytes {
        let operation = "derive a key by scrypt"
        guard let memory = cost.memory else {
            throw .invalidParameter(operation: operation, reason: "the scrypt cost is invalid")
        }
        guard memory <= scryptMemoryLimit else {
            throw .invalidParameter(
                operation: operation, reason: "the cost needs more than \(scryptMemoryLimit >> 20) MiB")
        }
        guard (1...1024).contains(count) else {
            throw .invalidParameter(
                operation: operation, reason: "\(count) bytes were requested; 1 to 1024 are possible")
        }
        return try SecretBytes(count: count) { key throws(CryptographyError) in
            try check(
                operation,
                passphrase.withUnsafeBytes { passphrase in
                    EVP_PBE_scrypt(
                        passphrase.assumingMemoryBound(to: CChar.self).baseAddress, passphrase.count, salt, salt.count,
                        UInt64(cost.n), UInt64(cost.r), UInt64(cost.p), UInt64(scryptMemoryLimit),
                        key.assumingMemoryBound(to: UInt8.self).baseAddress, key.count)
                })
        }
    }
}
