import Cryptography

/// A code for a single login, with the state it came with (RFC 6749 section 4.1.2).
public struct AuthorizationCode: Sendable {
    public let value: SecretBytes
    public let state: SecretBytes

    /// The server that claims to have issued it (RFC 9207), if it says so.
    public let issuer: String?

    public init(code: SecretBytes, state: SecretBytes, issuer: String? = nil) {
        value = code
        self.state = state
        self.issuer = issuer
    }

    /// Whether it answers the request with this proof; a code with another state belongs to another login and must
    /// not be used.
    public func isFor(_ proof: ProofKey) -> Bool { state == proof.state }
}
