import Cryptography
import Groundwork

extension ClaimRule {
    /// What OpenID Connect Core section 3.1.3.7 demands beside audience and expiry.
    ///
    /// - Parameters:
    ///   - nonce: the one that was sent with the authorization request, if there was one.
    ///   - accessToken: the token that came with the id_token: `at_hash`, where there is one, must match it (section
    ///     3.1.3.6).
    ///   - algorithm: of the id_token, whose hash `at_hash` is made with.
    public static func openID(
        issuer: String, clientID: String, nonce: SecretBytes?, accessToken: SecretBytes, algorithm: JWS.Algorithm
    ) -> [ClaimRule] {
        var rules = [
            text("iss", issuer),
            ClaimRule("azp") { $0 == nil || $0?.string == clientID },
            ClaimRule("sub") { ($0?.string?.isEmpty ?? true) == false },
            ClaimRule("at_hash") { $0 == nil || $0?.string == Self.half(of: accessToken, algorithm.digest) },
        ]
        if let nonce { rules.append(ClaimRule("nonce") { $0?.string.map { SecretBytes(utf8: $0) } == nonce }) }
        return rules
    }

    /// The left half of the hash.
    static func half(of token: SecretBytes, _ digest: Digest) -> String {
        let hash = token.withUnsafeBytes { digest.hash(Array($0)) }
        return Base64.encode(Array(hash.prefix(hash.count / 2)), alphabet: .urlSafe, padded: false)
    }
}

extension JWS {
    /// The claims of a token that was validated before.
    public static func claims(of compact: String) -> JSON? {
        (try? Token(compact: compact)).flatMap { try? JSON(parsing: $0.payload) }
    }
}
