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

    /// What the server has made of what was asked for (section 3.2.1): `nil` or empty where it does not say.
    public let authentication: String?
    public let algorithm: String?
    public let scope: String?
    public let redirectURIs: [String]
    public let grants: [String]

    /// - Throws: `AnswerFault`
    public init(_ body: [UInt8]) throws(AnswerFault) {
        let answer = try JSONAnswer(body)
        id = try answer.requiredPlainText("client_id")
        secret = try answer.plainText("client_secret").map { SecretBytes(utf8: $0) }
        let end = answer["client_secret_expires_at"]?.seconds ?? 0
        secretExpires = end > 0 ? Date(timeIntervalSince1970: end) : nil
        token = try answer.plainText("registration_access_token").map { SecretBytes(utf8: $0) }
        address = try answer.plainText("registration_client_uri")
        authentication = try answer.plainText("token_endpoint_auth_method")
        algorithm = try answer.plainText("token_endpoint_auth_signing_alg")
        scope = answer["scope"]?.string
        redirectURIs = (answer["redirect_uris"]?.array ?? []).compactMap(\.string)
        grants = (answer["grant_types"]?.array ?? []).compactMap(\.string)
    }
}
