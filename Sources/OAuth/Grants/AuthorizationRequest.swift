import Cryptography
import HTTPClient

/// A request to a server to let a user authorize this client (RFC 6749 section 4.1.1, RFC 7636 section 4.3).
public struct AuthorizationRequest: Sendable {
    let clientID: String
    let scope: String
    let redirectURI: String?
    let proof: ProofKey
    let additional: [(String, String)]

    /// - Parameter additional: parameters of the server's own, such as `display` (OpenID Connect Core section 3.1.2.1).
    public init(
        clientID: String, scope: String, redirectURI: String?, proof: ProofKey, additional: [(String, String)] = []
    ) {
        self.clientID = clientID
        self.scope = scope
        self.redirectURI = redirectURI
        self.proof = proof
        self.additional = additional
    }

    /// For the query of the authorization endpoint.
    public var query: FormBody {
        var query = FormBody([("client_id", clientID), ("response_type", "code")] + additional)
        query.add("scope", scope)
        query.add("code_challenge", proof.challenge)
        query.add("code_challenge_method", ProofKey.method)
        query.add("state", proof.state.exposedText())
        if let redirectURI { query.add("redirect_uri", redirectURI) }
        return query
    }
}
