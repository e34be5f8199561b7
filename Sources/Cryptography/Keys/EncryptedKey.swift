import COpenSSL

/// A private key in PKCS#8 that is encrypted with a password (RFC 5958 section 3).
enum EncryptedKey {
    /// - Throws: ``CryptographyError``; ``CryptographyError/wrongPassword(_:)``, as far as it can be told from damage
    static func decrypt(
        _ der: [UInt8], _ password: SecretBytes, by decryption: PasswordDecryption
    ) throws(CryptographyError) -> PrivateKey {
        let encrypted = try decoded(
            .privateKey, der, limit: PrivateKey.encodedLimit, { d2i_X509_SIG(nil, $0, $1) },
            free: { X509_SIG_free($0) })
        defer { X509_SIG_free(encrypted) }
        var algorithm: UnsafePointer<X509_ALGOR>?
        X509_SIG_get0(encrypted, &algorithm, nil)
        guard let algorithm else { throw .malformed(.privateKey, reason: "its encryption is not named") }
        for candidate in try FilePassword.all(of: password) {
            let container = try decryption.run(algorithm) { library in
                candidate.use { PKCS8_decrypt_ex(encrypted, $0, $1, library, nil) }
            }
            guard let container else { continue }
            defer { PKCS8_PRIV_KEY_INFO_free(container) }
            return try PrivateKey(adopting: KeyContainer.key(in: container))
        }
        ERR_clear_error()
        throw .wrongPassword(.privateKey)
    }
}
