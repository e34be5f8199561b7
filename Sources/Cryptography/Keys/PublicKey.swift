import COpenSSL

/// A public key with its DER SubjectPublicKeyInfo (RFC 5280 section 4.1.2.7).
public final class PublicKey: Sendable {
    /// The maximum size of a SubjectPublicKeyInfo, in bytes.
    static let encodedLimit = 16 << 10

    /// An `EVP_PKEY`.
    ///
    /// `nonisolated(unsafe)` is correct because nothing changes it after `init`; see ``PrivateKey``.
    nonisolated(unsafe) let handle: OpaquePointer
    /// The DER SubjectPublicKeyInfo.
    public let spki: [UInt8]
    /// SHA-256 of ``spki``, as in key pins (MAG 1.4).
    public let spkiSHA256: [UInt8]

    /// Reads a DER SubjectPublicKeyInfo of any kind that OpenSSL knows.
    /// - Throws: ``CryptographyError``
    public convenience init(spki: [UInt8]) throws(CryptographyError) {
        try self.init(
            owning: try decoded(
                .publicKey, spki, limit: Self.encodedLimit,
                {
                    d2i_PUBKEY(nil, $0, $1)
                }, free: { EVP_PKEY_free($0) }))
    }

    /// Creates an RSA key from its numbers in the format of a JWK (RFC 7518 section 6.3.1): unsigned, most significant
    /// byte first.
    /// - Throws: ``CryptographyError``, also for fewer than 2048 bits.
    public convenience init(rsaModulus modulus: [UInt8], exponent: [UInt8]) throws(CryptographyError) {
        let operation = "make an RSA key of its numbers"
        guard modulus.count <= KeyKind.rsaBits.upperBound / 8 + 1, exponent.count <= 8 else {
            throw .unsuitableKey(reason: "its modulus has \(modulus.count) bytes, its exponent \(exponent.count)")
        }
        let builder = try check(operation, OSSL_PARAM_BLD_new())
        defer { OSSL_PARAM_BLD_free(builder) }
        let n = try check(operation, BN_bin2bn(modulus, Int32(modulus.count), nil))
        defer { BN_free(n) }
        let e = try check(operation, BN_bin2bn(exponent, Int32(exponent.count), nil))
        defer { BN_free(e) }
        guard BN_is_odd(n) == 1, BN_is_odd(e) == 1, BN_is_one(e) == 0 else {
            throw .unsuitableKey(reason: "its numbers are not those of RSA")
        }
        try check(operation, latchkey_push_rsa_numbers(builder, n, e))
        let parameters = try check(operation, OSSL_PARAM_BLD_to_param(builder))
        defer { OSSL_PARAM_free(parameters) }
        let context = try check(operation, EVP_PKEY_CTX_new_from_name(nil, "RSA", nil))
        defer { EVP_PKEY_CTX_free(context) }
        try check(operation, EVP_PKEY_fromdata_init(context))
        var key: OpaquePointer?
        try check(operation, EVP_PKEY_fromdata(context, &key, latchkey_public_key_parts, parameters))
        let handle = try check(operation, key)
        guard KeyKind(of: handle) == .rsa else {
            defer { EVP_PKEY_free(handle) }
            throw .unsuitableKey(reason: KeyKind.describe(handle))
        }
        try self.init(owning: handle)
    }

    /// The public part of a private key, or a copy of a public key.
    convenience init(of key: OpaquePointer) throws(CryptographyError) {
        // Encode and decode it to drop the private part: this object must not be able to sign.
        try self.init(spki: try encoded("write a public key") { i2d_PUBKEY(key, $0) })
    }

    /// Takes ownership of the caller's reference, even if it throws.
    private init(owning handle: OpaquePointer) throws(CryptographyError) {
        do throws(CryptographyError) {
            spki = try encoded("write a public key") { i2d_PUBKEY(handle, $0) }
        } catch {
            EVP_PKEY_free(handle)
            throw error
        }
        self.handle = handle
        spkiSHA256 = SHA256.hash(spki)
    }

    deinit { EVP_PKEY_free(handle) }

    /// For people: `RSA 2048`, `EC P-256`.
    public var algorithm: String {
        switch KeyKind(of: handle) {
        case .p256: "EC P-256"
        case .p384: "EC P-384"
        case .rsa, nil:
            "\(EVP_PKEY_get0_type_name(handle).map { String(cString: $0) } ?? "unknown") \(EVP_PKEY_get_bits(handle))"
        }
    }

    /// The modulus of an RSA key, most significant byte first, without leading zeros; `nil` for another kind.
    public var rsaModulus: [UInt8]? { number(OSSL_PKEY_PARAM_RSA_N) }

    /// The public exponent of an RSA key, in the format of ``rsaModulus``.
    public var rsaExponent: [UInt8]? { number(OSSL_PKEY_PARAM_RSA_E) }

    private func number(_ name: String) -> [UInt8]? {
        var number: OpaquePointer?
        guard EVP_PKEY_is_a(handle, "RSA") == 1, EVP_PKEY_get_bn_param(handle, name, &number) == 1 else { return nil }
        defer { BN_free(number) }
        var bytes = [UInt8](repeating: 0, count: Int(BN_num_bits(number) + 7) / 8)
        return BN_bn2bin(number, &bytes) == bytes.count ? bytes : nil
    }
}

extension PublicKey: Equatable {
    public static func == (left: PublicKey, right: PublicKey) -> Bool { left.spki == right.spki }
}
