import COpenSSL

/// Encryption of a short secret, such as a symmetric key, for the holder of an RSA key: RSAES-OAEP with SHA-256 (RFC
/// 8017 section 7.1).
public enum KeyWrapping {
    /// The maximum size of what a key wraps, in bytes; `nil` for a key that is not RSA.
    public static func limit(of key: PublicKey) -> Int? {
        KeyKind(of: key.handle) == .rsa ? Int(EVP_PKEY_get_size(key.handle)) - 2 * SHA256.byteCount - 2 : nil
    }

    /// - Parameter secret: 1 byte to ``limit(of:)``.
    /// - Throws: ``CryptographyError``, also for a key of another kind.
    public static func wrap(_ secret: SecretBytes, for key: PublicKey) throws(CryptographyError) -> [UInt8] {
        let operation = "wrap a key"
        guard let limit = limit(of: key) else { throw .unsuitableKey(reason: KeyKind.describe(key.handle)) }
        guard secret.count <= limit else { throw .tooLong(.secret, count: secret.count, limit: limit) }
        let context = try check(operation, EVP_PKEY_CTX_new_from_pkey(nil, key.handle, nil))
        defer { EVP_PKEY_CTX_free(context) }
        try check(operation, EVP_PKEY_encrypt_init(context))
        try check(operation, prepare(context, isOld: false))
        var count = Int(EVP_PKEY_get_size(key.handle))
        var wrapped = [UInt8](repeating: 0, count: count)
        try check(
            operation,
            secret.withUnsafeBytes {
                EVP_PKEY_encrypt(
                    context, &wrapped, &count, $0.assumingMemoryBound(to: UInt8.self).baseAddress, $0.count)
            })
        return Array(wrapped.prefix(count))
    }

    static func prepare(_ context: OpaquePointer, isOld: Bool) -> Int32 {
        guard !isOld else { return EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) }
        let isReady =
            EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_OAEP_PADDING) == 1
            && EVP_PKEY_CTX_set_rsa_oaep_md(context, EVP_sha256()) == 1
            && EVP_PKEY_CTX_set_rsa_mgf1_md(context, EVP_sha256()) == 1
        return isReady ? 1 : 0
    }
}
