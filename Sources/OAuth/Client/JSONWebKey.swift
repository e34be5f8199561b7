import Cryptography
import Groundwork

/// A public key as a JSON Web Key (RFC 7517 section 4, RFC 7518 section 6). Pure.
public enum JSONWebKey {
    /// What precedes the two coordinates in the SubjectPublicKeyInfo of a P-256 key (RFC 5480 section 2).
    static let p256Head: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48,
        0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
    ]

    /// The same for P-384.
    private static let p384Head: [UInt8] = [
        0x30, 0x76, 0x30, 0x10, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x05, 0x2B, 0x81, 0x04,
        0x00, 0x22, 0x03, 0x62, 0x00, 0x04,
    ]

    /// The same for P-521.
    private static let p521Head: [UInt8] = [
        0x30, 0x81, 0x9B, 0x30, 0x10, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x05, 0x2B, 0x81,
        0x04, 0x00, 0x23, 0x03, 0x81, 0x86, 0x00, 0x04,
    ]

    /// What precedes an Ed25519 key (RFC 8410 section 4).
    static let ed25519Head: [UInt8] = [0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00]

    /// What precedes the coordinates of each curve (`crv`), and the bytes of one coordinate.
    static let curves = ["P-256": (p256Head, 32), "P-384": (p384Head, 48), "P-521": (p521Head, 66)]

    /// The public part of a key that signs, with its id.
    public static func json(of key: PublicKey, id: String, algorithm: JWS.Algorithm) -> JSON {
        var members: [String: JSON] = ["kid": .string(id), "use": "sig", "alg": .string(algorithm.rawValue)]
        if let modulus = key.rsaModulus, let exponent = key.rsaExponent {
            members["kty"] = "RSA"
            members["n"] = text(modulus)
            members["e"] = text(exponent)
        } else if key.spki.starts(with: p256Head), key.spki.count == p256Head.count + 64 {
            members["kty"] = "EC"
            members["crv"] = "P-256"
            members["x"] = text(key.spki[p256Head.count..<(p256Head.count + 32)])
            members["y"] = text(key.spki[(p256Head.count + 32)...])
        }
        return .object(members)
    }

    private static func text(_ bytes: some Collection<UInt8>) -> JSON {
        .string(Base64.encode(Array(bytes), alphabet: .urlSafe, padded: false))
    }
}
