import COpenSSL

/// Signatures with SHA-256: PKCS #1 v1.5 for RSA, DER-coded ECDSA for P-256.
extension PrivateKey {
    func signature(of message: [UInt8]) throws(CryptographyError) -> [UInt8] {
        let operation = "sign"
        let context = try check(operation, EVP_MD_CTX_new())
        defer { EVP_MD_CTX_free(context) }
        try check(operation, EVP_DigestSignInit_ex(context, nil, "SHA256", nil, nil, handle, nil))
        var count = 0
        try check(operation, EVP_DigestSign(context, nil, &count, message, message.count))
        var signature = [UInt8](repeating: 0, count: count)
        try check(operation, EVP_DigestSign(context, &signature, &count, message, message.count))
        return Array(signature.prefix(count))
    }
}

extension PublicKey {
    public func verifies(_ signature: [UInt8], of message: [UInt8]) throws(CryptographyError) -> Bool {
        let operation = "verify a signature"
        let context = try check(operation, EVP_MD_CTX_new())
        defer { EVP_MD_CTX_free(context) }
        try check(operation, EVP_DigestVerifyInit_ex(context, nil, "SHA256", nil, nil, handle, nil))
        let isValid = EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
        ERR_clear_error()
        return isValid
    }
}

/// The ECDSA signatures of JWS: r and s of 32 bytes each, concatenated (RFC 7518 section 3.4).
enum RawECDSA {
    static let numberBytes = 32

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

    /// - Parameter raw: exactly 64 bytes.
    static func toDER(_ raw: [UInt8]) throws(CryptographyError) -> [UInt8] {
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
