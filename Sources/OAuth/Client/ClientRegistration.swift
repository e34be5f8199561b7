import Cryptography
import FoundationEssentials
import Groundwork
import HTTPClient

/// A server's answer to a client that registered itself (RFC 7591 section 3.2.1). Pure.
public struct ClientRegistration: Sendable {
    public let id: String
    public let secret: SecretBytes?
    /// When the secret ends; `nil` means never.
    public let secretExpires: Date?
    /// Reads, changes and deletes the registration (RFC 7592).
    public let token: SecretBytes?
    public let address: String?

    /// - Throws: `AnswerFault`
    public init(_ body: [UInt8]) throws(AnswerFault) {
        let answer = try JSONAnswer(body)
        id = try answer.requiredPlainText("client_id")
        secret = try answer.plainText("client_secret").map { SecretBytes(utf8: $0) }
        let end = answer["client_secret_expires_at"]?.seconds ?? 0
        secretExpires = end > 0 ? Date(timeIntervalSince1970: end) : nil
        token = try answer.plainText("registration_access_token").map { SecretBytes(utf8: $0) }
        address = try answer.plainText("registration_client_uri")
    }
}
