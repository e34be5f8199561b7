import COpenSSL

/// Signatures with SHA-256: PKCS #1 v1.5 or PSS for RSA, DER-coded ECDSA for P-256.
extension PrivateKey {
    func signature(of message: [UInt8], isPSS: Bool = false) throws(CryptographyError) -> [UInt8] {
        let operation = "sign"
        let context = try check(operation, EVP_MD_CTX_new())
        defer { EVP_MD_CTX_free(context) }
        var parameters: OpaquePointer?
        try check(operation, EVP_DigestSignInit_ex(context, &parameters, "SHA256", nil, nil, handle, nil))
        if isPSS { try check(operation, usePSS(parameters)) }
        var count = 0
        try check(operation, EVP_DigestSign(context, nil, &count, message, message.count))
        var signature = [UInt8](repeating: 0, count: count)
        guard EVP_DigestSign(context, &signature, &count, message, message.count) == 1 else {
            throw signingError(operation)
        }
        return Array(signature.prefix(count))
    }
}

extension PublicKey {
    public func verifies(_ signature: [UInt8], of message: [UInt8]) throws(CryptographyError) -> Bool {
        try verifies(signature, of: message, .sha256, isPSS: false)
    }

    /// Verifies the signature of a JWS.
    func verifies(
        _ signature: [UInt8], of message: [UInt8], by scheme: SignatureScheme
    ) throws(CryptographyError) -> Bool {
        switch scheme {
        case .rsa(let digest, let isPSS): try verifies(signature, of: message, digest, isPSS: isPSS)
        case .ecdsa(let digest, let numberBytes):
            try verifies(try RawECDSA.toDER(signature, numberBytes), of: message, digest, isPSS: false)
        case .ed25519: try verifies(signature, of: message, nil, isPSS: false)
        }
    }

    /// Verifies what a ``ForeignKey`` made, with exactly the salt that was asked for. Leaves OpenSSL's queue of errors
    /// as it was.
    public func verifies(_ signature: [UInt8], of digest: UnsignedDigest) -> Bool {
        ERR_set_mark()
        defer { ERR_pop_to_mark() }
        guard let context = EVP_PKEY_CTX_new_from_pkey(nil, handle, nil) else { return false }
        defer { EVP_PKEY_CTX_free(context) }
        guard EVP_PKEY_verify_init(context) == 1,
            EVP_PKEY_CTX_set_signature_md(context, EVP_get_digestbyname(digest.hash.rawValue)) == 1
        else { return false }
        if case .pss(let saltBytes) = digest.scheme {
            guard EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) == 1,
                EVP_PKEY_CTX_set_rsa_pss_saltlen(context, Int32(saltBytes)) == 1
            else { return false }
        }
        return EVP_PKEY_verify(context, signature, signature.count, digest.bytes, digest.bytes.count) == 1
    }

    /// - Parameter digest: `nil` for a kind of key that has its own.
    private func verifies(
        _ signature: [UInt8], of message: [UInt8], _ digest: Digest?, isPSS: Bool
    ) throws(CryptographyError) -> Bool {
        let operation = "verify a signature"
        let context = try check(operation, EVP_MD_CTX_new())
        defer { EVP_MD_CTX_free(context) }
        var parameters: OpaquePointer?
        try check(
            operation, EVP_DigestVerifyInit_ex(context, &parameters, digest?.rawValue, nil, nil, handle, nil))
        if isPSS { try check(operation, usePSS(parameters)) }
        let isValid = EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
        ERR_clear_error()
        return isValid
    }
}

/// Sets PSS with a salt as long as the hash (RFC 7518 section 3.5).
private func usePSS(_ parameters: OpaquePointer?) -> Int32 {
    let status = EVP_PKEY_CTX_set_rsa_padding(parameters, RSA_PKCS1_PSS_PADDING)
    return status == 1 ? EVP_PKEY_CTX_set_rsa_pss_saltlen(parameters, RSA_PSS_SALTLEN_DIGEST) : status
}

/// How a signature of a JWS is verified with a public key.
enum SignatureScheme {
    case rsa(Digest, isPSS: Bool)
    /// - Parameter numberBytes: length of each of the two numbers.
    case ecdsa(Digest, numberBytes: Int)
    case ed25519

    /// `nil` if the algorithm is not one for this kind of key.
    init?(_ algorithm: JWS.Algorithm, of key: PublicKey) {
        switch algorithm {
        case .RS256, .RS384, .RS512, .PS256, .PS384, .PS512:
            guard KeyKind(of: key.handle) == .rsa else { return nil }
            self = .rsa(algorithm.digest, isPSS: [.PS256, .PS384, .PS512].contains(algorithm))
        case .ES256: self.init(.sha256, on: "prime256v1", 32, key)
        case .ES384: self.init(.sha384, on: "secp384r1", 48, key)
        case .ES512: self.init(.sha512, on: "secp521r1", 66, key)
        case .EdDSA:
            guard EVP_PKEY_is_a(key.handle, "ED25519") == 1 else { return nil }
            self = .ed25519
        case .HS256: return nil
        }
    }

    private init?(_ digest: Digest, on curve: String, _ numberBytes: Int, _ key: PublicKey) {
        guard EVP_PKEY_is_a(key.handle, "EC") == 1, KeyKind.group(of: key.handle) == curve else { return nil }
        self = .ecdsa(digest, numberBytes: numberBytes)
    }
}

/// The ECDSA signatures of JWS: r and s of equal length, concatenated (RFC 7518 section 3.4).
public enum RawECDSA {
    /// Of each number on P-256.
    public static let numberBytes = 32

    static func fromDER(_ der: [UInt8]) throws(CryptographyError) -> [UInt8] {
        let operation = "encode a signature"
        let pair = try decoded(.token, der, limit: 128, { d2i_ECDSA_SIG(nil, $0, $1) }, free: { ECDSA_SIG_free($0) })
        defer { ECDSA_SIG_free(pair) }
        var raw: [UInt8] = []
        for number in [ECDSA_SIG_get0_r(pair), ECDSA_SIG_get0_s(pair)] {
            var bytes = [UInt8](repeating: 0, count: numberBytes)
            guard BN_bn2binpad(number, &bytes, Int32(numberBytes)) == numberBytes else { throw openSSLError(operation) }
            raw += bytes
        }
        return raw
    }

    /// - Parameter raw: exactly twice `numberBytes`.
    public static func toDER(_ raw: [UInt8], _ numberBytes: Int = numberBytes) throws(CryptographyError) -> [UInt8] {
        let operation = "decode a signature"
        guard raw.count == 2 * numberBytes else { throw .signatureInvalid(.token) }
        let pair = try check(operation, ECDSA_SIG_new())
        defer { ECDSA_SIG_free(pair) }
        let r = try check(operation, BN_bin2bn(raw, Int32(numberBytes), nil))
        guard let s = BN_bin2bn(Array(raw.suffix(numberBytes)), Int32(numberBytes), nil) else {
            BN_free(r)
            throw openSSLError(operation)
        }
        guard ECDSA_SIG_set0(pair, r, s) == 1 else {
            BN_free(r)
            BN_free(s)
            throw openSSLError(operation)
        }
        return try encoded(operation) { i2d_ECDSA_SIG(pair, $0) }
    }
}
