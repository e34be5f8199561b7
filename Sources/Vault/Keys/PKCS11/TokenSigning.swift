import CPKCS11
import Cryptography

/// Signatures by a key of a token, in the forms that its mechanisms take and give.
extension TokenSession {
    /// - Parameter publicKey: of the same key; its kind fits the scheme.
    /// - Returns: as ``ForeignKey`` says. Not verified yet.
    func signature(
        of digest: UnsignedDigest, by key: Object, _ publicKey: PublicKey
    ) throws(VaultError) -> [UInt8] {
        let (bits, count) = publicKey.rsaLength
        switch digest.scheme {
        case .pkcs1:
            guard let info = DigestInfo.encode(digest: digest.bytes, hash: digest.hash) else { throw Self.unfit }
            return try sign(info, CKM_RSA_PKCS, (), by: key, count: count)
        case .pss(let saltBytes):
            guard
                let block = try explained({
                    try PSSBlock.encode(
                        digest: digest.bytes, hash: digest.hash, saltBytes: saltBytes, modulusBits: bits)
                })
            else { throw Self.unfit }
            let parameters = CK_RSA_PKCS_PSS_PARAMS(
                hashAlg: digest.hash.mechanism, mgf: digest.hash.maskGeneration, sLen: CK_ULONG(saltBytes))
            do throws(VaultError) {
                return try sign(digest.bytes, CKM_RSA_PKCS_PSS, parameters, by: key, count: count)
            } catch .token(.mechanismMissing) {
                return try sign(block, CKM_RSA_X_509, (), by: key, count: count)
            }
        case .ecdsa:
            // The leftmost bits, as many as the curve's order has (FIPS 186-4 section 6.4).
            let raw = try sign(
                Array(digest.bytes.prefix(RawECDSA.numberBytes)), CKM_ECDSA, (), by: key,
                count: 2 * RawECDSA.numberBytes)
            return try explained { try RawECDSA.toDER(raw) }
        }
    }

    private static let unfit = VaultError.cryptography(
        .invalidParameter(operation: "sign with a token", reason: "the digest does not fit the key"))

    /// - Parameter count: the length that the signature must have.
    private func sign<Parameters>(
        _ bytes: [UInt8], _ mechanism: CK_MECHANISM_TYPE, _ parameters: Parameters, by key: Object, count: Int
    ) throws(VaultError) -> [UInt8] {
        let operation = "sign"
        try begin(operation, mechanism, parameters) { functions.list.C_SignInit(handle, $0, key) }
        if try flag(CKA_ALWAYS_AUTHENTICATE, of: key) == true { try logInForOperation() }
        var (bytes, signature) = (bytes, [UInt8](repeating: 0, count: count))
        var written = CK_ULONG(count)
        try functions.check(
            operation, functions.list.C_Sign(handle, &bytes, CK_ULONG(bytes.count), &signature, &written))
        guard written == count else {
            throw .token(
                .unusableAnswer(operation: operation, reason: "a signature of \(count) bytes has \(written)"))
        }
        return signature
    }

    /// Begins an operation with a mechanism.
    ///
    /// - Parameter parameters: of the C type that the mechanism has, or `()`.
    /// - Throws: ``TokenError/mechanismMissing(name:)`` when the token does not know it, or not with these parameters.
    func begin<Parameters>(
        _ operation: String, _ type: CK_MECHANISM_TYPE, _ parameters: Parameters,
        _ call: (UnsafeMutablePointer<CK_MECHANISM>) -> CK_RV
    ) throws(VaultError) {
        var parameters = parameters
        let code = withUnsafeMutableBytes(of: &parameters) { bytes in
            var mechanism = CK_MECHANISM(
                mechanism: type, pParameter: bytes.isEmpty ? nil : bytes.baseAddress,
                ulParameterLen: CK_ULONG(bytes.count))
            return call(&mechanism)
        }
        guard !ReturnCode.meansNotSupported(code) else { throw .token(.mechanismMissing(name: Self.name(of: type))) }
        try functions.check(operation, code)
    }

    private static func name(of mechanism: CK_MECHANISM_TYPE) -> String {
        switch mechanism {
        case CKM_RSA_PKCS: "CKM_RSA_PKCS"
        case CKM_RSA_PKCS_PSS: "CKM_RSA_PKCS_PSS"
        case CKM_RSA_X_509: "CKM_RSA_PKCS_PSS or CKM_RSA_X_509"
        case CKM_RSA_PKCS_OAEP: "CKM_RSA_PKCS_OAEP"
        case CKM_RSA_PKCS_KEY_PAIR_GEN: "CKM_RSA_PKCS_KEY_PAIR_GEN"
        case CKM_ECDSA: "CKM_ECDSA"
        case CKM_ECDH1_DERIVE: "CKM_ECDH1_DERIVE"
        case CKM_EC_KEY_PAIR_GEN: "CKM_EC_KEY_PAIR_GEN"
        default: "mechanism \(mechanism)"
        }
    }
}

extension PublicKey {
    /// The length of an RSA key's modulus; zeros for another kind.
    var rsaLength: (bits: Int, bytes: Int) {
        guard let modulus = rsaModulus, let first = modulus.first else { return (0, 0) }
        return (8 * modulus.count - first.leadingZeroBitCount, modulus.count)
    }
}

extension Digest {
    fileprivate var mechanism: CK_MECHANISM_TYPE {
        switch self {
        case .sha256: CKM_SHA256
        case .sha384: CKM_SHA384
        case .sha512: CKM_SHA512
        }
    }

    fileprivate var maskGeneration: CK_RSA_PKCS_MGF_TYPE {
        switch self {
        case .sha256: CK_RSA_PKCS_MGF_TYPE(CKG_MGF1_SHA256)
        case .sha384: CK_RSA_PKCS_MGF_TYPE(CKG_MGF1_SHA384)
        case .sha512: CK_RSA_PKCS_MGF_TYPE(CKG_MGF1_SHA512)
        }
    }
}
