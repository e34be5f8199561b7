import Cryptography
import FoundationEssentials
import Groundwork
import HTTPClient

/// The answer of a token endpoint (RFC 6749 section 5.1, OpenID Connect Core section 3.1.3.3). Pure.
public struct TokenAnswer: Sendable, Equatable {
    /// The longest token lifetime that is accepted, in seconds: ten years.
    public static let lifetimeLimit: TimeInterval = 10 * 365 * 86_400

    public let accessToken: SecretBytes
    /// In seconds; 0 when the server gave none.
    public let lifetime: TimeInterval
    /// Granted scopes; `nil` when the server gave none, which means those asked for (RFC 6749 section 5.1).
    public let scope: String?
    public let refreshToken: SecretBytes?
    /// Not validated yet.
    public let idToken: SecretBytes?
    /// ``HeldIDToken/jwtBearer``, unless the server names another type.
    public let idTokenType: String

    /// - Throws: `AnswerFault` when the token is not of type Bearer (RFC 6750), or one of the tokens does not fit
    ///   into a header.
    public init(_ body: [UInt8]) throws(AnswerFault) { try self.init(try JSONAnswer(body)) }

    /// The same of an answer that was not a body: the implicit grant's is in an address.
    public init(_ answer: JSONAnswer) throws(AnswerFault) {
        guard answer["token_type"]?.string?.lowercased() == "bearer" else {
            throw AnswerFault("its token_type is not bearer")
        }
        accessToken = SecretBytes(utf8: try answer.requiredPlainText("access_token"))
        lifetime = min(max(answer["expires_in"]?.seconds ?? 0, 0), Self.lifetimeLimit)
        scope = (answer["scope"]?.array?.compactMap(\.string).joined(separator: " ") ?? answer["scope"]?.string)
            .map(Scope.separated)
        refreshToken = try answer.plainText("refresh_token").map { SecretBytes(utf8: $0) }
        idToken = try answer.plainText("id_token").map { SecretBytes(utf8: $0) }
        idTokenType = answer["id_token_type"]?.string ?? HeldIDToken.jwtBearer
    }
}
