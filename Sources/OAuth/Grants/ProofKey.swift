import Cryptography
import Groundwork

/// Ties an authorization code to the client that requested it: the verifier, which is only sent with the code (RFC
/// 7636), and the state, which has to come back with it (RFC 6749 section 10.12).
public struct ProofKey: Sendable {
    /// The method of ``challenge``: SHA-256, the only one used.
    public static let method = "S256"

    /// 86 characters of 64 random bytes (RFC 7636 section 4.1 allows 43 to 128).
    public let verifier: SecretBytes
    /// 22 characters of 16 random bytes.
    public let state: SecretBytes

    /// - Throws: `CryptographyError` if the system cannot provide randomness.
    public init() throws {
        verifier = try Self.text(64)
        state = try Self.text(16)
    }

    init(verifier: SecretBytes, state: SecretBytes) {
        self.verifier = verifier
        self.state = state
    }

    /// RFC 7636 section 4.2.
    public var challenge: String {
        Base64.encode(verifier.withUnsafeBytes { SHA256.hash(Array($0)) }, alphabet: .urlSafe)
    }

    private static func text(_ count: Int) throws -> SecretBytes {
        var bytes = try Random.bytes(count)
        defer { wipe(&bytes) }
        return SecretBytes(utf8: Base64.encode(bytes, alphabet: .urlSafe))
    }
}
