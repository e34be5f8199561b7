import COpenSSL

/// Secrets that only the owner of a private key can find, made with its public key.
public enum KeyAgreement {
    /// Elliptic-curve Diffie-Hellman on P-256 with a key pair that is made for this and forgotten at once (RFC 6090
    /// section 4).
    ///
    /// - Returns: the point of the forgotten key, as in ``PublicKey/p256Point``, and the 32 bytes of the shared x
    ///   coordinate, which are no key yet: derive one from them (``KeyDerivation/hkdf(secret:salt:info:count:)``).
    /// - Throws: ``CryptographyError``; ``CryptographyError/unsuitableKey(reason:)`` for a key that is not on P-256.
    public static func withEphemeralKey(
        for recipient: PublicKey
    ) throws(CryptographyError) -> (point: [UInt8], secret: SecretBytes) {
        let operation = "agree on a key"
        guard KeyKind(of: recipient.handle) == .p256 else {
            throw .unsuitableKey(reason: KeyKind.describe(recipient.handle))
        }
        // Freeing wipes the private number.
        let ephemeral = try check(operation, latchkey_generate_p256())
        defer { EVP_PKEY_free(ephemeral) }
        guard let point = try PublicKey(of: ephemeral).p256Point else { throw openSSLError(operation) }
        let context = try check(operation, EVP_PKEY_CTX_new_from_pkey(nil, ephemeral, nil))
        defer { EVP_PKEY_CTX_free(context) }
        try check(operation, EVP_PKEY_derive_init(context))
        try check(operation, EVP_PKEY_derive_set_peer(context, recipient.handle))
        let secret = try SecretBytes(count: PublicKey.p256NumberBytes) { bytes throws(CryptographyError) in
            var count = bytes.count
            try check(
                operation, EVP_PKEY_derive(context, bytes.assumingMemoryBound(to: UInt8.self).baseAddress, &count))
            guard count == bytes.count else { throw openSSLError(operation) }
        }
        return (point, secret)
    }

    /// Encrypts by RSAES-OAEP (RFC 8017 section 7.1) with SHA-1, without a label: the hash that every token knows. OAEP
    /// does not rest on the property that SHA-1 has lost.
    ///
    /// - Parameter secret: at most 42 bytes less than the modulus has.
    /// - Throws: ``CryptographyError``; ``CryptographyError/unsuitableKey(reason:)`` for a key that is not RSA of 2048
    ///   to 8192 bits.
    public static func encryptOAEP(
        _ secret: SecretBytes, for recipient: PublicKey
    ) throws(CryptographyError) -> [UInt8] {
        let operation = "encrypt with an RSA key"
        guard KeyKind(of: recipient.handle) == .rsa else {
            throw .unsuitableKey(reason: KeyKind.describe(recipient.handle))
        }
        let context = try check(operation, EVP_PKEY_CTX_new_from_pkey(nil, recipient.handle, nil))
        defer { EVP_PKEY_CTX_free(context) }
        try check(operation, EVP_PKEY_encrypt_init(context))
        try check(operation, EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_OAEP_PADDING))
        try check(operation, EVP_PKEY_CTX_set_rsa_oaep_md(context, EVP_sha1()))
        try check(operation, EVP_PKEY_CTX_set_rsa_mgf1_md(context, EVP_sha1()))
        var encrypted = [UInt8](repeating: 0, count: Int(EVP_PKEY_get_size(recipient.handle)))
        var count = encrypted.count
        try check(
            operation,
            secret.withUnsafeBytes {
                EVP_PKEY_encrypt(
                    context, &encrypted, &count, $0.assumingMemoryBound(to: UInt8.self).baseAddress, $0.count)
            })
        return Array(encrypted.prefix(count))
    }
}
