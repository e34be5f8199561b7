import Cryptography
import Groundwork

extension ClaimRule {
    /// What OpenID Connect Core section 3.1.3.7 demands beside audience and expiry.
    ///
    /// - Parameters:
    ///   - nonce: the one that was sent with the authorization request, if there was one.
    ///   - accessToken: the token that came with the id_token: `at_hash`, where there is one, must match it (section
    ///     3.1.3.6).
    public static func openID(
        issuer: String, clientID: String, nonce: SecretBytes?, accessToken: SecretBytes
    ) -> [ClaimRule] {
        var rules = [
            text("iss", issuer),
            ClaimRule("azp") { $0 == nil || $0?.string == clientID },
            ClaimRule("sub") { ($0?.string?.isEmpty ?? true) == false },
            ClaimRule("at_hash") { $0 == nil || $0?.string == Self.half(of: accessToken) },
        ]
        if let nonce { rules.append(ClaimRule("nonce") { $0?.string.map { SecretBytes(utf8: $0) } == nonce }) }
        return rules
    }

    /// The left half of the SHA-256: all accepted algorithms use that hash.
    static func half(of token: SecretBytes) -> String {
        let hash = token.withUnsafeBytes { SHA256.hash(Array($0)) }
        return Base64.encode(Array(hash.prefix(16)), alphabet: .urlSafe, padded: false)
    }
}

extension JWS {
    /// The claims of a token that was validated before.
    public static func claims(of compact: String) -> JSON? {
        (try? Token(compact: compact)).flatMap { try? JSON(parsing: $0.payload) }
    }
}
