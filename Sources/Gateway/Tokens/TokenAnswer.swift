import Cryptography
import FoundationEssentials
import Groundwork
import HTTPClient

/// The answer of the token endpoint (gateway protocol 5.2). Pure.
struct TokenAnswer: Equatable {
    /// The longest life a token is believed to have, in seconds: ten years.
    static let lifetimeLimit: TimeInterval = 10 * 365 * 86_400

    let accessToken: SecretBytes
    /// In seconds; 0 when the gateway gave none.
    let lifetime: TimeInterval
    /// Granted scopes; `nil` when the gateway gave none, which means those asked for (RFC 6749 section 5.1).
    let scope: String?
    let refreshToken: SecretBytes?
    /// Not validated yet.
    let idToken: SecretBytes?
    let idTokenType: String

    /// - Throws: why the answer cannot be used; no value of it is named (checklist 21).
    init(_ body: [UInt8]) throws(AnswerFault) {
        let answer = try JSONAnswer(body)
        guard answer["token_type"]?.string?.lowercased() == "bearer" else { throw AnswerFault("its token_type is not bearer") }
        accessToken = SecretBytes(utf8: try answer.requiredPlainText("access_token"))
        lifetime = min(max(answer["expires_in"]?.seconds ?? 0, 0), Self.lifetimeLimit)
        scope = answer["scope"]?.string
        refreshToken = try answer.plainText("refresh_token").map { SecretBytes(utf8: $0) }
        idToken = try answer.plainText("id_token").map { SecretBytes(utf8: $0) }
        idTokenType = answer["id_token_type"]?.string ?? HeldIDToken.jwtBearer
    }
}
