import Groundwork

/// Signed tokens in the compact form of JSON Web Signature (RFC 7515 section 7.1).
public enum JWS {
    /// The supported algorithms (RFC 7518 section 3.1, RFC 8037 section 3.1), without `none`. All are verified; this
    /// program signs with RS256, PS256, ES256 and HS256.
    public enum Algorithm: String, Sendable, CaseIterable {
        /// RSASSA-PKCS1-v1_5, keys of 2048 bits and up.
        case RS256, RS384, RS512
        /// RSASSA-PSS, keys of 2048 bits and up.
        case PS256, PS384, PS512
        /// ECDSA on P-256, P-384 and P-521.
        case ES256, ES384, ES512
        /// On the curve Ed25519.
        case EdDSA
        /// HMAC with SHA-256.
        case HS256

        /// Those whose signatures a public key verifies.
        public static let ofPublicKeys = Set(allCases).subtracting([.HS256])
        /// Those that a key of this program signs with.
        public static let ofOwnKeys: [Algorithm] = [.ES256, .RS256]

        /// The hash of what is signed, and of the tokens that an id_token vouches for (OpenID Connect Core section
        /// 3.1.3.6).
        public var digest: Digest {
            switch self {
            case .RS256, .PS256, .ES256, .HS256: .sha256
            case .RS384, .PS384, .ES384: .sha384
            // Ed25519 hashes with SHA-512 itself.
            case .RS512, .PS512, .ES512, .EdDSA: .sha512
            }
        }
    }

    public enum SigningKey: Sendable {
        case hmac(SecretBytes)
        case key(PrivateKey)
    }

    public enum VerificationKey: Sendable {
        case hmac(SecretBytes)
        case key(PublicKey)
    }

    /// The algorithm for a private key; `nil` for a kind that none is for.
    public static func algorithm(of key: PrivateKey) -> Algorithm? {
        switch KeyKind(of: key.handle) {
        case .rsa: .RS256
        case .p256: .ES256
        case .p384, nil: nil
        }
    }

    /// The maximum length of a token, in bytes.
    public static let limit = 16 << 10

    /// Names that ``sign(_:algorithm:key:keyID:headers:)`` sets itself or that would change the signed content.
    private static let reservedHeaders: Set<String> = ["alg", "kid", "crit", "b64"]

    /// Signs `payload` and returns the token.
    /// - Parameter headers: additional members of the header.
    /// - Throws: ``CryptographyError/algorithmRefused(_:)`` for a key of another kind, or an error of OpenSSL.
    public static func sign(
        _ payload: [UInt8], algorithm: Algorithm, key: SigningKey, keyID: String? = nil, headers: [String: JSON] = [:]
    ) throws(CryptographyError) -> String {
        guard reservedHeaders.isDisjoint(with: headers.keys) else {
            throw .invalidParameter(operation: "sign a token", reason: "alg, kid, crit and b64 cannot be set")
        }
        var header = headers
        header["alg"] = .string(algorithm.rawValue)
        if let keyID { header["kid"] = .string(keyID) }
        let input = base64(JSON.object(header).bytes) + "." + base64(payload)
        let message = Array(input.utf8)
        let signature: [UInt8]
        switch (algorithm, key) {
        case (.HS256, .hmac(let secret)) where secret.count > 0: signature = HMAC.sha256(key: secret, message)
        case (_, .key(let key)): signature = try self.signature(of: message, algorithm: algorithm, key: key)
        default: throw .algorithmRefused(algorithm.rawValue)
        }
        return input + "." + base64(signature)
    }

    /// Signs bytes that need not be a token, with an algorithm and a format of signatures of JWS (RFC 7518 section 3.1).
    ///
    /// - Throws: ``CryptographyError/algorithmRefused(_:)`` for a key of another kind and for an algorithm that this
    ///   program only verifies, or an error of OpenSSL.
    public static func signature(
        of message: [UInt8], algorithm: Algorithm, key: PrivateKey
    ) throws(CryptographyError) -> [UInt8] {
        switch (algorithm, KeyKind(of: key.handle)) {
        case (.RS256, .rsa): try key.signature(of: message)
        case (.PS256, .rsa): try key.signature(of: message, isPSS: true)
        case (.ES256, .p256): try RawECDSA.fromDER(try key.signature(of: message))
        default: throw .algorithmRefused(algorithm.rawValue)
        }
    }

    /// Verifies what ``signature(of:algorithm:key:)`` makes.
    ///
    /// - Throws: ``CryptographyError/algorithmRefused(_:)`` for a key of another kind, or an error of OpenSSL.
    public static func verifies(
        _ signature: [UInt8], of message: [UInt8], algorithm: Algorithm, key: PublicKey
    ) throws(CryptographyError) -> Bool {
        guard let scheme = SignatureScheme(algorithm, of: key) else { throw .algorithmRefused(algorithm.rawValue) }
        do throws(CryptographyError) {
            return try key.verifies(signature, of: message, by: scheme)
        } catch CryptographyError.signatureInvalid {
            return false
        }
    }

    private static func base64(_ bytes: [UInt8]) -> String { Base64.encode(bytes, alphabet: .urlSafe, padded: false) }
}
