import Cryptography

/// A code that logs in once, with the state it came with (RFC 6749 section 4.1.2).
public struct AuthorizationCode: Sendable {
    public let value: SecretBytes
    public let state: SecretBytes

    public init(code: SecretBytes, state: SecretBytes) {
        value = code
        self.state = state
    }

    /// Whether it came for the request with this proof; a code with another state is of another log-in and must not
    /// be used.
    public func isFor(_ proof: ProofKey) -> Bool { state == proof.state }
}
