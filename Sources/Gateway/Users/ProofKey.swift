import Cryptography
import Groundwork

/// What ties an authorization code to the board that asked for it (gateway protocol 5.6, RFC 7636): the verifier, which only
/// travels with the code, and the state, which has to come back with it.
struct ProofKey: Sendable {
    static let method = "S256"

    let verifier: SecretBytes
    let state: SecretBytes

    init() throws {
        verifier = try Self.text(64)
        state = try Self.text(16)
    }

    init(verifier: SecretBytes, state: SecretBytes) {
        self.verifier = verifier
        self.state = state
    }

    var challenge: String {
        Base64.encode(verifier.withUnsafeBytes { SHA256.hash(Array($0)) }, alphabet: .urlSafe)
    }

    private static func text(_ count: Int) throws -> SecretBytes {
        var bytes = try Random.bytes(count)
        defer { wipe(&bytes) }
        return SecretBytes(utf8: Base64.encode(bytes, alphabet: .urlSafe))
    }
}
