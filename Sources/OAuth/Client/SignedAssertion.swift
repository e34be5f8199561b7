import Cryptography
import FoundationEssentials
import Groundwork

/// A JWT that a client makes: to authenticate, or as a grant (RFC 7523 sections 2.1, 2.2 and 3).
public struct SignedAssertion: Sendable {
    /// `client_assertion_type` (RFC 7523 section 2.2).
    public static let clientAssertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
    /// How long it is valid, in seconds.
    static let lifetime: TimeInterval = 240
    /// How long ago it says it was issued, in seconds: a server's clock may be late.
    static let allowance: TimeInterval = 60

    private let key: PrivateKey
    private let keyID: String
    public let algorithm: JWS.Algorithm

    /// - Parameter keyID: the id by which the server knows the public key.
    public init(key: PrivateKey, keyID: String, algorithm: JWS.Algorithm) {
        self.key = key
        self.keyID = keyID
        self.algorithm = algorithm
    }

    /// - Parameters:
    ///   - issuer: the client.
    ///   - subject: the client, or the user in whose name it asks.
    ///   - audience: the token endpoint or the issuer.
    /// - Throws: `CryptographyError`
    public func make(
        issuer: String, subject: String, audience: String, now: Date
    ) async throws(CryptographyError) -> SecretBytes {
        let seconds = now.timeIntervalSince1970
        let claims: JSON = [
            "iss": .string(issuer), "sub": .string(subject), "aud": .string(audience),
            "iat": .integer(Int64(seconds - Self.allowance)), "exp": .integer(Int64(seconds + Self.lifetime)),
            "jti": .string(Hex.encode(try Random.bytes(16))),
        ]
        return SecretBytes(
            utf8: try await key.signing { () throws(CryptographyError) in
                try JWS.sign(claims.bytes, algorithm: algorithm, key: .key(key), keyID: keyID)
            })
    }

    /// The public key, to be registered at the server (RFC 7591 section 2, `jwks`).
    public var publicKey: JSON { JSONWebKey.json(of: key.publicKey, id: keyID, algorithm: algorithm) }
}
