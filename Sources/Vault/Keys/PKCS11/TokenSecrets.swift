import CPKCS11
import Cryptography

/// Secrets that a token finds with a private key.
extension TokenSession {
    /// The x coordinate that a key on P-256 shares with a point (`CKM_ECDH1_DERIVE`): 32 bytes.
    func sharedSecret(of key: Object, with point: [UInt8]) throws(VaultError) -> SecretBytes {
        do throws(VaultError) {
            return try derive(key, point)
        } catch .token(.mechanismMissing) {
            // Some tokens want the point in an OCTET STRING.
            return try derive(key, [0x04, UInt8(point.count)] + point)
        }
    }

    private func derive(_ key: Object, _ point: [UInt8]) throws(VaultError) -> SecretBytes {
        let operation = "agree on a key"
        let template = [
            TokenAttribute(CKA_CLASS, CKO_SECRET_KEY), TokenAttribute(CKA_KEY_TYPE, CKK_GENERIC_SECRET),
            TokenAttribute(CKA_TOKEN, false), TokenAttribute(CKA_SENSITIVE, false),
            TokenAttribute(CKA_EXTRACTABLE, true),
            TokenAttribute(CKA_VALUE_LEN, UInt(Seal.keyBytes)),
        ]
        var derived: Object = 0
        let data = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: point.count)
        defer { data.deallocate() }
        _ = data.initialize(from: point)
        let parameters = CK_ECDH1_DERIVE_PARAMS(
            kdf: ck_ec_kdf_t(CKD_NULL), ulSharedDataLen: 0, pSharedData: nil, ulPublicDataLen: CK_ULONG(data.count),
            pPublicData: data.baseAddress)
        try begin(operation, CKM_ECDH1_DERIVE, parameters) { mechanism in
            template.withC {
                functions.list.C_DeriveKey(handle, mechanism, key, $0.baseAddress, CK_ULONG($0.count), &derived)
            }
        }
        var secret = try attribute(CKA_VALUE, of: derived) ?? []
        defer { wipe(&secret) }
        try destroy(derived)
        return try checked(secret, operation)
    }

    /// What was encrypted to an RSA key by OAEP with SHA-1: 32 bytes.
    func decryptOAEP(_ encrypted: [UInt8], by key: Object) throws(VaultError) -> SecretBytes {
        let operation = "decrypt"
        let parameters = CK_RSA_PKCS_OAEP_PARAMS(
            hashAlg: CKM_SHA_1, mgf: CK_RSA_PKCS_MGF_TYPE(CKG_MGF1_SHA1), source: CKZ_DATA_SPECIFIED, pSourceData: nil,
            ulSourceDataLen: 0)
        try begin(operation, CKM_RSA_PKCS_OAEP, parameters) { functions.list.C_DecryptInit(handle, $0, key) }
        if try flag(CKA_ALWAYS_AUTHENTICATE, of: key) == true { try logInForOperation() }
        var encrypted = encrypted
        var secret = [UInt8](repeating: 0, count: encrypted.count)
        defer { wipe(&secret) }
        var count = CK_ULONG(secret.count)
        try functions.check(
            operation, functions.list.C_Decrypt(handle, &encrypted, CK_ULONG(encrypted.count), &secret, &count))
        guard count <= secret.count else {
            throw .token(.unusableAnswer(operation: operation, reason: "the secret is longer than what was encrypted"))
        }
        secret.removeLast(secret.count - Int(count))
        return try checked(secret, operation)
    }

    private func checked(_ secret: [UInt8], _ operation: String) throws(VaultError) -> SecretBytes {
        guard secret.count == Seal.keyBytes else {
            throw .token(.unusableAnswer(operation: operation, reason: "the secret has \(secret.count) bytes"))
        }
        return SecretBytes(secret)
    }
}
