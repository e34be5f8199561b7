import COpenSSL

/// AES-256 in Galois/Counter Mode with a random nonce (NIST SP 800-38D).
///
/// Random nonces of 96 bits are safe for 2³² texts with one key (NIST SP 800-38D section 8.3); code that seals more
/// often than a vault must derive a new key in time.
public enum AESGCM {
    public static let keyBytes = 32
    static let nonceBytes = 12
    static let tagBytes = 16
    /// The maximum size of a text, in bytes.
    public static let limit = 64 << 20

    /// - Parameter authenticating: bytes that the result does not contain, and that are required again to open it.
    /// - Returns: nonce (12 bytes), cipher text, tag (16 bytes).
    /// - Throws: ``CryptographyError``
    public static func seal(
        _ plaintext: SecretBytes, key: SecretBytes, authenticating: [UInt8]
    ) throws(CryptographyError) -> [UInt8] {
        let nonce = try Random.bytes(nonceBytes)
        return nonce + (try seal(plaintext, key: key, nonce: nonce, authenticating: authenticating))
    }

    /// - Parameter nonce: 12 bytes that are used with this key only once.
    /// - Returns: cipher text, tag (16 bytes).
    static func seal(
        _ plaintext: SecretBytes, key: SecretBytes, nonce: [UInt8], authenticating: [UInt8]
    ) throws(CryptographyError) -> [UInt8] {
        let operation = "seal"
        guard plaintext.count <= limit else { throw .tooLong(.secret, count: plaintext.count, limit: limit) }
        let cipher = try Cipher(operation, encrypts: true, key: key, nonce: nonce, authenticating: authenticating)
        var ciphertext = [UInt8](repeating: 0, count: plaintext.count)
        try check(
            operation,
            plaintext.withUnsafeBytes { plaintext in
                ciphertext.withUnsafeMutableBytes { cipher.update(plaintext, into: $0) }
            })
        try check(operation, cipher.finish())
        var tag = [UInt8](repeating: 0, count: tagBytes)
        try check(operation, EVP_CIPHER_CTX_ctrl(cipher.context, EVP_CTRL_AEAD_GET_TAG, Int32(tagBytes), &tag))
        return ciphertext + tag
    }

    /// - Parameter sealed: a result of ``seal(_:key:authenticating:)``.
    /// - Throws: ``CryptographyError/notAuthentic`` if a byte of `sealed`, the key or `authenticating` differs.
    public static func open(
        _ sealed: [UInt8], key: SecretBytes, authenticating: [UInt8]
    ) throws(CryptographyError) -> SecretBytes {
        guard sealed.count >= nonceBytes + tagBytes else { throw .malformed(.sealedText, reason: "it is truncated") }
        let most = limit + nonceBytes + tagBytes
        guard sealed.count <= most else { throw .tooLong(.sealedText, count: sealed.count, limit: most) }
        return try open(
            sealed.dropFirst(nonceBytes), key: key, nonce: Array(sealed.prefix(nonceBytes)),
            authenticating: authenticating)
    }

    /// - Parameter sealed: cipher text and tag, at least 16 bytes.
    static func open(
        _ sealed: ArraySlice<UInt8>, key: SecretBytes, nonce: [UInt8], authenticating: [UInt8]
    ) throws(CryptographyError) -> SecretBytes {
        let operation = "open"
        var tag = Array(sealed.suffix(tagBytes))
        let ciphertext = sealed.dropLast(tagBytes)
        let cipher = try Cipher(operation, encrypts: false, key: key, nonce: nonce, authenticating: authenticating)
        return try SecretBytes(count: ciphertext.count) { plaintext throws(CryptographyError) in
            try check(operation, ciphertext.withUnsafeBytes { cipher.update($0, into: plaintext) })
            try check(operation, EVP_CIPHER_CTX_ctrl(cipher.context, EVP_CTRL_AEAD_SET_TAG, Int32(tagBytes), &tag))
            guard cipher.finish() == 1 else {
                ERR_clear_error()
                throw .notAuthentic
            }
        }
    }

    /// An `EVP_CIPHER_CTX` with key, nonce and additional data set; freeing it wipes the key schedule.
    private final class Cipher {
        let context: OpaquePointer

        init(
            _ operation: String, encrypts: Bool, key: SecretBytes, nonce: [UInt8], authenticating: [UInt8]
        ) throws(CryptographyError) {
            guard key.count == keyBytes else {
                throw .invalidParameter(operation: operation, reason: "the key has \(key.count) bytes, not \(keyBytes)")
            }
            guard authenticating.count <= limit else {
                throw .invalidParameter(operation: operation, reason: "the additional data is too long")
            }
            context = try check(operation, EVP_CIPHER_CTX_new())
            try check(
                operation,
                key.withUnsafeBytes { key in
                    EVP_CipherInit_ex(
                        context, EVP_aes_256_gcm(), nil, key.assumingMemoryBound(to: UInt8.self).baseAddress, nonce,
                        encrypts ? 1 : 0)
                })
            var count: Int32 = 0
            // With a null output the input is additional data.
            try check(operation, EVP_CipherUpdate(context, nil, &count, authenticating, Int32(authenticating.count)))
        }

        deinit { EVP_CIPHER_CTX_free(context) }

        /// - Returns: 1 for success. `output` has as many bytes as `input`.
        func update(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> Int32 {
            guard !input.isEmpty else { return 1 }
            var count: Int32 = 0
            return EVP_CipherUpdate(
                context, output.assumingMemoryBound(to: UInt8.self).baseAddress, &count,
                input.assumingMemoryBound(to: UInt8.self).baseAddress, Int32(input.count))
        }

        /// - Returns: 1 for success; when opening, 1 means that the tag is correct.
        func finish() -> Int32 {
            var count: Int32 = 0
            var tail = [UInt8](repeating: 0, count: tagBytes)
            return EVP_CipherFinal_ex(context, &tail, &count)
        }
    }
}
