import COpenSSL

/// A private key that is decoded, but not read yet (PKCS#8, RFC 5958): a `PKCS8_PRIV_KEY_INFO`.
enum KeyContainer {
    /// Kinds that are read at once, whatever their numbers are. Of others OpenSSL computes the public half, which takes
    /// hours for numbers that an attacker chose for that.
    private static let kinds: Set<Int32> = [
        NID_rsaEncryption, NID_rsassaPss, NID_X9_62_id_ecPublicKey, NID_X25519, NID_X448, NID_ED25519, NID_ED448,
    ]

    /// - Returns: an `EVP_PKEY`, which the caller frees.
    /// - Throws: ``CryptographyError``
    static func key(in container: OpaquePointer) throws(CryptographyError) -> OpaquePointer {
        var (kind, bytes, count): (OpaquePointer?, UnsafePointer<UInt8>?, Int32) = (nil, nil, 0)
        guard PKCS8_pkey_get0(&kind, &bytes, &count, nil, container) == 1, let kind else {
            throw .malformed(.privateKey, reason: takeOpenSSLReason())
        }
        let number = OBJ_obj2nid(kind)
        guard kinds.contains(number) else {
            let name = OBJ_nid2ln(number).map { String(cString: $0) } ?? "an unknown kind"
            throw .unsuitableKey(reason: "it is \(name)")
        }
        guard count <= PrivateKey.encodedLimit else {
            throw .tooLong(.privateKey, count: Int(count), limit: PrivateKey.encodedLimit)
        }
        return try check("read a private key", EVP_PKCS82PKEY(container))
    }
}
