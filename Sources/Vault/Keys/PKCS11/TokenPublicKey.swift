import CPKCS11
import Cryptography

/// Public keys as a token describes them.
extension TokenSession {
    /// P-256 as a DER object identifier (RFC 5480 section 2.1.1.1), the form of `CKA_EC_PARAMS`.
    static let p256Parameters: [UInt8] = [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]

    /// The public key of a key object: from its own attributes, or those of the public key with the same id.
    ///
    /// - Parameter name: how errors call the key.
    func publicKey(of key: Object, name: String) throws(VaultError) -> PublicKey {
        if let found = try publicKey(in: key, name) { return found }
        guard let id = try attribute(CKA_ID, of: key), !id.isEmpty else {
            throw .token(.keyUnsuitable(name: name, reason: "the token does not show its public key"))
        }
        let twins = try objects([TokenAttribute(CKA_CLASS, CKO_PUBLIC_KEY), TokenAttribute(CKA_ID, id)])
        guard let twin = twins.first, let found = try publicKey(in: twin, name) else {
            throw .token(.keyUnsuitable(name: name, reason: "the token does not show its public key"))
        }
        guard twins.count == 1 else { throw .token(.severalKeys(name: name, count: twins.count)) }
        return found
    }

    /// - Returns: `nil` if the object does not have it.
    private func publicKey(in object: Object, _ name: String) throws(VaultError) -> PublicKey? {
        switch try number(CKA_KEY_TYPE, of: object) {
        case CKK_RSA:
            guard let modulus = try attribute(CKA_MODULUS, of: object), !modulus.isEmpty,
                let exponent = try attribute(CKA_PUBLIC_EXPONENT, of: object), !exponent.isEmpty
            else { return nil }
            return try suitable(name) { () throws(CryptographyError) in
                try PublicKey(rsaModulus: modulus, exponent: exponent)
            }
        case CKK_EC:
            guard let parameters = try attribute(CKA_EC_PARAMS, of: object), !parameters.isEmpty else { return nil }
            guard parameters == Self.p256Parameters else {
                throw .token(.keyUnsuitable(name: name, reason: "it is on another curve than P-256"))
            }
            guard let value = try attribute(CKA_EC_POINT, of: object), !value.isEmpty else { return nil }
            return try suitable(name) { () throws(CryptographyError) in
                try PublicKey(p256Point: Self.point(in: value))
            }
        default: throw .token(.keyUnsuitable(name: name, reason: "it is neither RSA nor EC"))
        }
    }

    /// A point is in an OCTET STRING, except with tokens that leave that out (PKCS#11 2.40 mechanisms section 2.3.3).
    static func point(in value: [UInt8]) -> [UInt8] {
        let header = [0x04, UInt8(PublicKey.p256PointBytes)]
        let isWrapped = value.count == header.count + PublicKey.p256PointBytes && value.starts(with: header)
        return isWrapped ? Array(value.dropFirst(header.count)) : value
    }

    private func suitable(
        _ name: String, _ make: () throws(CryptographyError) -> PublicKey
    ) throws(VaultError) -> PublicKey {
        do throws(CryptographyError) {
            return try make()
        } catch {
            throw .token(.keyUnsuitable(name: name, reason: error.reason))
        }
    }
}
