import Cryptography
import FoundationEssentials
import HTTPClient

/// A client's identifier, and the secret that proves it (RFC 6749 section 2.3.1).
public struct ClientAuthentication: Sendable, Equatable {
    public let id: String
    /// Also the key of id_tokens that are signed with HS256 (OpenID Connect Core section 10.1).
    public let secret: SecretBytes
    /// When the server stops accepting them; `nil` means never (RFC 7591 section 3.2.1).
    public let expires: Date?

    public init(id: String, secret: SecretBytes, expires: Date?) {
        self.id = id
        self.secret = secret
        self.expires = expires
    }

    public func isExpired(at now: Date) -> Bool { expires.map { $0 < now } ?? false }

    /// For `Authorization`: id and secret unencoded, as servers expect whose ids and secrets need no encoding.
    public var basic: String { BasicCredentials.header(name: id, secret: secret) }

    /// The form of a request to the token endpoint, in which the client authenticates with its secret
    /// (`client_secret_post`).
    public func form(_ grant: GrantRequest) -> [UInt8] {
        var form = FormBody([("grant_type", grant.type)])
        if let scope = grant.scope { form.add("scope", scope) }
        form.add("client_id", id)
        return form.bytes(with: grant.fields + [("client_secret", secret)])
    }
}
