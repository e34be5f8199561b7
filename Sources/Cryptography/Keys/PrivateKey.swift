import COpenSSL

/// An OpenSSL private key, freed and wiped with the last reference.
///
/// The handle is opaque on purpose: a ``ForeignKey``, such as one in a TPM, is also an `EVP_PKEY`, and signs and
/// authenticates TLS like any other; only ``pkcs8()`` throws for it.
///
/// Functions that read or return its bytes are `@_spi(KeyBytes)`. The vault, which seals them, imports that by name;
/// `Tests/Architecture` fails if another module of the agent does.
public final class PrivateKey: Sendable {
    public enum Algorithm: Sendable, Equatable {
        /// RSA of 2048 to 8192 bits, public exponent 65537.
        case rsa(bits: Int)
        /// The curve P-256 (FIPS 186-4 D.1.2.3).
        case p256
    }

    /// The maximum size of a PKCS#8 key, in bytes.
    static let encodedLimit = 16 << 10

    /// An `EVP_PKEY`.
    ///
    /// `nonisolated(unsafe)` is correct because nothing changes it after `init`, and OpenSSL counts its references
    /// under a lock and lets several threads use it at once while none changes it.
    nonisolated(unsafe) let handle: OpaquePointer
    public let publicKey: PublicKey
    /// What signs for a key whose bytes are elsewhere; `nil` if they are here.
    let foreign: ForeignSigner?

    /// Generates a key. RSA takes up to seconds on a small board, too long for the cooperative pool.
    /// - Throws: ``CryptographyError``
    public init(generating algorithm: Algorithm) throws(CryptographyError) {
        switch algorithm {
        case .rsa(let bits):
            guard KeyKind.rsaBits.contains(bits) else {
                throw .unsuitableKey(reason: "RSA of \(bits) bits was requested")
            }
            handle = try check("generate an RSA key", latchkey_generate_rsa(bits))
        case .p256: handle = try check("generate an EC key", latchkey_generate_p256())
        }
        foreign = nil
        do throws(CryptographyError) {
            publicKey = try PublicKey(of: handle)
        } catch {
            EVP_PKEY_free(handle)
            throw error
        }
    }

    /// Reads an unencrypted PKCS#8 structure (RFC 5208) in DER.
    /// - Throws: ``CryptographyError``, also for a weak key or another kind.
    @_spi(KeyBytes) public convenience init(pkcs8: SecretBytes) throws(CryptographyError) {
        guard pkcs8.count <= Self.encodedLimit else {
            throw .tooLong(.privateKey, count: pkcs8.count, limit: Self.encodedLimit)
        }
        let (container, rest) = pkcs8.withUnsafeBytes { bytes in
            let start = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
            var position = start
            let container = d2i_PKCS8_PRIV_KEY_INFO(nil, &position, bytes.count)
            return (container, start.flatMap { start in position.map { bytes.count - ($0 - start) } } ?? 0)
        }
        guard let container else { throw .malformed(.privateKey, reason: takeOpenSSLReason()) }
        defer { PKCS8_PRIV_KEY_INFO_free(container) }
        guard rest == 0 else { throw .malformed(.privateKey, reason: "\(rest) bytes follow it") }
        try self.init(adopting: KeyContainer.key(in: container))
    }

    /// Reads the key of a PKCS#12 file (RFC 7292) with exactly one that can sign tokens. Takes up to seconds on a small
    /// board, too long for the cooperative pool.
    ///
    /// - Throws: ``CryptographyError``, also for a weak key or another kind; ``CryptographyError/wrongPassword(_:)``,
    ///   ``CryptographyError/noKey(_:)``, ``CryptographyError/unsupportedEncryption(_:algorithm:)``
    @_spi(KeyBytes) public convenience init(
        pkcs12: SecretBytes, password: SecretBytes
    ) throws(CryptographyError) {
        let file = try PKCS12File(pkcs12)
        let container = try file.container(password)
        // The file has the container.
        defer { withExtendedLifetime(file) {} }
        try self.init(adopting: KeyContainer.key(in: container))
        try checkSignsTokens()
    }

    /// - Throws: ``CryptographyError/unsuitableKey(reason:)`` for a key that is for TLS alone.
    func checkSignsTokens() throws(CryptographyError) {
        guard JWS.algorithm(of: self) != nil else { throw .unsuitableKey(reason: KeyKind.describe(handle)) }
    }

    /// - Parameter handle: is freed with the key, also if that is refused.
    init(adopting handle: OpaquePointer) throws(CryptographyError) {
        do throws(CryptographyError) {
            guard KeyKind(of: handle) != nil else { throw .unsuitableKey(reason: KeyKind.describe(handle)) }
            publicKey = try PublicKey(of: handle)
        } catch {
            EVP_PKEY_free(handle)
            throw error
        }
        self.handle = handle
        foreign = nil
    }

    /// Takes a key whose bytes are elsewhere, RSA or on P-256. It does what any other does, where it is used only for
    /// signing.
    ///
    /// - Parameter publicKey: of the same key, as the place says that has it.
    /// - Throws: ``CryptographyError``, also for a weak key or another kind.
    public init(foreign key: some ForeignKey, publicKey: PublicKey) throws(CryptographyError) {
        guard let kind = KeyKind(of: publicKey.handle), kind != .p384 else {
            throw .unsuitableKey(reason: KeyKind.describe(publicKey.handle))
        }
        let signer = ForeignSigner(key, publicKey: publicKey)
        handle = try signer.makeHandle()
        foreign = signer
        self.publicKey = publicKey
    }

    deinit { EVP_PKEY_free(handle) }

    /// The key as PKCS#8 (RFC 5208) in DER, unencrypted.
    /// - Throws: ``CryptographyError``, also for a key that its provider does not export.
    @_spi(KeyBytes) public func pkcs8() throws(CryptographyError) -> SecretBytes {
        let operation = "write a private key"
        let container = try check(operation, EVP_PKEY2PKCS8(handle))
        defer { PKCS8_PRIV_KEY_INFO_free(container) }
        let count = i2d_PKCS8_PRIV_KEY_INFO(container, nil)
        guard count > 0 else { throw openSSLError(operation) }
        return try SecretBytes(count: Int(count)) { bytes throws(CryptographyError) in
            var position = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
            guard i2d_PKCS8_PRIV_KEY_INFO(container, &position) == count else { throw openSSLError(operation) }
        }
    }
    /// Decrypts what was encrypted with the public half of an RSA key. Each failure is the same error, after the same
    /// time.
    ///
    /// - Parameter isOld: whether it is in the format of PKCS #1 v1.5 (RFC 8017 section 7.2) and not in OAEP's. From
    ///   OpenSSL 3.2 on, that format gives random bytes for what was changed.
    /// - Throws: ``CryptographyError/notAuthentic``; ``CryptographyError/unsuitableKey(reason:)`` for a key that only
    ///   signs.
    @_spi(KeyBytes) public func unwrapped(_ wrapped: [UInt8], isOld: Bool) throws(CryptographyError) -> SecretBytes {
        let operation = "unwrap a key"
        guard foreign == nil, KeyKind(of: handle) == .rsa else { throw .unsuitableKey(reason: "it only signs") }
        let context = try check(operation, EVP_PKEY_CTX_new_from_pkey(nil, handle, nil))
        defer { EVP_PKEY_CTX_free(context) }
        try check(operation, EVP_PKEY_decrypt_init(context))
        try check(operation, KeyWrapping.prepare(context, isOld: isOld))
        var count = Int(EVP_PKEY_get_size(handle))
        let text = try SecretBytes(count: count) { text throws(CryptographyError) in
            let start = text.assumingMemoryBound(to: UInt8.self).baseAddress
            let status = EVP_PKEY_decrypt(context, start, &count, wrapped, wrapped.count)
            ERR_clear_error()
            guard status == 1 else { throw .notAuthentic }
        }
        return text.withUnsafeBytes { SecretBytes($0.prefix(count)) }
    }
}
