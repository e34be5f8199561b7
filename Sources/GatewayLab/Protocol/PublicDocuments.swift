import Cryptography
import Foundation
import Groundwork

/// E3, E17 and E18: what the gateway tells about itself.
extension GatewayCore {
    /// E3 with `display=social_login`. The lab knows local credentials alone, so the list of providers is empty
    /// (gateway protocol 7.1).
    func listProviders(_ request: WireRequest, now: Date) throws -> WireResponse {
        let endpoint = Endpoint.authorization
        guard let query = Parameters(query: request.query) else {
            throw GatewayFault(endpoint.errorPrefix + 103, "invalid_request", "The query cannot be read")
        }
        let master = try authorizingMaster(query["client_id"], now: now)
        guard query["response_type"] == "code" else {
            throw GatewayFault(endpoint.errorPrefix + 116, "unsupported_response_type", "response_type must be code")
        }
        guard query["display"] == "social_login" else {
            throw GatewayFault(endpoint.errorPrefix + 103, "invalid_request", "display must be social_login")
        }
        guard query["redirect_uri"] == nil || query["redirect_uri"] == master.redirectURI else {
            throw GatewayFault(endpoint.errorPrefix + 114, "invalid_request", "redirect_uri is not that of the client")
        }
        return .json(["idp": "enterprise", "providers": []])
    }

    private func authorizingMaster(_ clientID: String?, now: Date) throws -> MasterClient {
        let instance = clientID.flatMap { state.instances[$0] }
        let master = configuration.masterClients.first { $0.clientID == instance?.master ?? clientID }
        guard let master, instance?.hasEnded(now) != true else {
            throw GatewayFault(
                Endpoint.authorization.errorPrefix + 201, status: 401, "invalid_client",
                "The client_id is unknown")
        }
        return master
    }

    /// E17 (OpenID Connect Discovery 1.0 section 3).
    func discovery() -> WireResponse {
        func url(_ endpoint: Endpoint) -> JSON { .string(baseURL + endpoint.path) }
        return .json([
            "issuer": .string(baseURL + "/connect"), "jwks_uri": url(.keySet), "token_endpoint": url(.token),
            "authorization_endpoint": url(.authorization), "userinfo_endpoint": url(.userinfo),
            "revocation_endpoint": url(.revocation), "response_types_supported": ["code"],
            "subject_types_supported": ["pairwise"],
            "id_token_signing_alg_values_supported": .array(IDTokenAlgorithm.allCases.map { .string($0.rawValue) }),
            "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"],
        ])
    }

    /// E18, with what each client looks for: `kid`, `n`, `e` and `x5c` (Q24, checklist 52).
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
