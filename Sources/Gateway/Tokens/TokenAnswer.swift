import Cryptography
import FoundationEssentials
import Groundwork

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
        guard let answer = try? JSON(parsing: body, limit: AnswerFault.bodyLimit) else { throw AnswerFault("it is not JSON") }
        guard answer["token_type"]?.string?.lowercased() == "bearer" else { throw AnswerFault("its token_type is not bearer") }
        guard let token = answer["access_token"]?.string, AnswerFault.isVisible(token) else {
            throw AnswerFault("its access_token is missing, empty or not printable")
        }
        accessToken = SecretBytes(utf8: token)
        lifetime = min(max(answer["expires_in"]?.seconds ?? 0, 0), Self.lifetimeLimit)
        scope = answer["scope"]?.string
        refreshToken = try Self.secret(answer, "refresh_token")
        idToken = try Self.secret(answer, "id_token")
        idTokenType = answer["id_token_type"]?.string ?? HeldIDToken.jwtBearer
    }

    private static func secret(_ answer: JSON, _ name: String) throws(AnswerFault) -> SecretBytes? {
        guard let text = answer[name]?.string, !text.isEmpty else { return nil }
        guard AnswerFault.isVisible(text) else { throw AnswerFault("its \(name) is not printable") }
        return SecretBytes(utf8: text)
    }
}
