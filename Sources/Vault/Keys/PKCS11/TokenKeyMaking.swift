import CPKCS11
import Cryptography

/// How keys are made on a token, and what is asked of them.
extension TokenSession {
    private static let rsaExponent: [UInt8] = [0x01, 0x00, 0x01]
    private static let rsaBits = 2048...8192

    func generate(
        _ algorithm: PrivateKey.Algorithm, _ handle: TokenKeyHandle
    ) throws(VaultError) -> (publicKey: Object, privateKey: Object) {
        let names = [TokenAttribute(CKA_LABEL, handle.label), TokenAttribute(CKA_ID, handle.id)]
        var publicPart =
            names + [
                TokenAttribute(CKA_TOKEN, true), TokenAttribute(CKA_PRIVATE, false), TokenAttribute(CKA_VERIFY, true),
            ]
        var privatePart =
            names + [
                TokenAttribute(CKA_TOKEN, true), TokenAttribute(CKA_PRIVATE, true), TokenAttribute(CKA_SENSITIVE, true),
                TokenAttribute(CKA_EXTRACTABLE, false), TokenAttribute(CKA_SIGN, true),
                TokenAttribute(CKA_DECRYPT, false), TokenAttribute(CKA_UNWRAP, false),
            ]
        let mechanism: CK_MECHANISM_TYPE
        switch algorithm {
        case .rsa(let bits):
            guard Self.rsaBits.contains(bits) else {
                throw .cryptography(.unsuitableKey(reason: "RSA of \(bits) bits was requested"))
            }
            mechanism = CKM_RSA_PKCS_KEY_PAIR_GEN
            publicPart += [
                TokenAttribute(CKA_MODULUS_BITS, UInt(bits)), TokenAttribute(CKA_PUBLIC_EXPONENT, Self.rsaExponent),
            ]
        case .p256:
            mechanism = CKM_EC_KEY_PAIR_GEN
            publicPart.append(TokenAttribute(CKA_EC_PARAMS, Self.p256Parameters))
            privatePart.append(TokenAttribute(CKA_DERIVE, false))
        }
        var (publicKey, privateKey): (Object, Object) = (0, 0)
        try begin("make a key", mechanism, ()) { mechanism in
            publicPart.withC { publicPart in
                privatePart.withC { privatePart in
                    functions.list.C_GenerateKeyPair(
                        self.handle, mechanism, publicPart.baseAddress, CK_ULONG(publicPart.count),
                        privatePart.baseAddress, CK_ULONG(privatePart.count), &publicKey, &privateKey)
                }
            }
        }
        return (publicKey, privateKey)
    }

    /// - Throws: ``TokenError/keyExtractable(name:)``, also when the token does not say.
    func checkStaysInside(_ key: Object, name: String) throws(VaultError) {
        guard try flag(CKA_SENSITIVE, of: key) == true, try flag(CKA_EXTRACTABLE, of: key) == false else {
            throw .token(.keyExtractable(name: name))
        }
    }

    /// Makes signatures of the kinds that TLS and tokens need, so that a key that cannot is refused at once.
    ///
    /// - Throws: ``TokenError/signatureWrong(name:)``, ``TokenError/mechanismMissing(name:)``
    func tryOut(_ key: Object, _ publicKey: PublicKey, name: String) throws(VaultError) {
        let digest = Digest.sha256.hash(name.utf8)
        let schemes: [UnsignedDigest.Scheme] =
            publicKey.rsaModulus == nil ? [.ecdsa] : [.pkcs1, .pss(saltBytes: digest.count)]
        for scheme in schemes {
            let unsigned = UnsignedDigest(digest, by: .sha256, scheme)
            guard publicKey.verifies(try signature(of: unsigned, by: key, publicKey), of: unsigned) else {
                throw .token(.signatureWrong(name: name))
            }
        }
    }
}
