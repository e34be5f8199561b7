import Cryptography
import Foundation
import Groundwork

/// E17 and E18: the documents that the gateway publishes about itself.
extension GatewayCore {
    /// E17 (OpenID Connect Discovery 1.0 section 3).
    func discovery() -> WireResponse {
        func url(_ endpoint: Endpoint) -> JSON { .string(baseURL + endpoint.path) }
        return .json([
            "issuer": .string(baseURL + "/connect"), "jwks_uri": url(.keySet), "token_endpoint": url(.token),
            "authorization_endpoint": url(.authorization), "userinfo_endpoint": url(.userinfo),
            "revocation_endpoint": url(.revocation), "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
            "subject_types_supported": ["pairwise"],
            "id_token_signing_alg_values_supported": .array(IDTokenAlgorithm.allCases.map { .string($0.rawValue) }),
            "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"],
        ])
    }

    /// E18, with the members that the clients read: `kid`, `n`, `e` and `x5c` (MAG quirk Q24, MAG checklist 52).
    func keySet() throws -> WireResponse {
        let signer = try authority.signer.identity()
        let certificate = signer.chain[0]
        let key = certificate.publicKey
        guard let modulus = key.rsaModulus, let exponent = key.rsaExponent else {
            throw LabError.cryptography(operation: "publish the signing key", reason: "it is not an RSA key")
        }
        func number(_ bytes: [UInt8]) -> JSON {
            .string(Base64.encode(bytes.drop { $0 == 0 }, alphabet: .urlSafe))
        }
        return .json([
            "keys": [
                [
                    "kty": "RSA", "use": "sig", "alg": "RS256", "kid": .string(signer.keyID),
                    "n": number(modulus), "e": number(exponent), "x5c": [.string(Base64.encode(certificate.der))],
                ]
            ]
        ])
    }
}
