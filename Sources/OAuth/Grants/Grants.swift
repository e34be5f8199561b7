import Cryptography
import FoundationEssentials

/// The refresh token grant (RFC 6749 section 6). A server may replace the token with each answer, so it counts as
/// spent.
public struct RefreshTokenGrant: Grant {
    public let name = "refresh_token"
    let token: SecretBytes

    /// `nil` if there is no refresh token, or a scope is needed beyond its own, which it cannot widen.
    public init?(_ tokens: HeldTokens, additionalScope: String? = nil) {
        guard let token = tokens.refresh, additionalScope == nil else { return nil }
        self.token = token
    }

    public var request: GrantRequest {
        GrantRequest(type: name, fields: [(name, token)], scope: nil, spendsRefreshToken: true)
    }

    public func consequence(of subject: RefusalSubject) -> GrantConsequence {
        GrantConsequence(subject == .client ? .fail : .nextGrant)
    }
}

/// The grant for an assertion, such as a JWT (RFC 7521 section 4.1, RFC 7523 section 2.1).
public struct AssertionGrant: Grant {
    public let name: String
    let type: String
    let assertion: SecretBytes
    let scope: String?
    /// Whether the assertion is the id_token that the session holds.
    let isIDToken: Bool

    /// - Parameter type: the grant type, which says what the assertion is.
    public init(type: String, assertion: SecretBytes, scope: String?) {
        (name, self.type, self.assertion, self.scope, isIDToken) = (type, type, assertion, scope, false)
    }

    /// For the id_token of a session. `nil` if there is none, or it has expired.
    public init?(idTokenOf tokens: HeldTokens, at now: Date, scope: String?) {
        guard let idToken = tokens.id, idToken.expires.map({ $0 >= now }) ?? true else { return nil }
        (name, type, assertion, self.scope, isIDToken) = ("id_token", idToken.type, idToken.value, scope, true)
    }

    public var request: GrantRequest { GrantRequest(type: type, fields: [("assertion", assertion)], scope: scope) }

    public func consequence(of subject: RefusalSubject) -> GrantConsequence {
        subject == .client ? GrantConsequence(.fail) : GrantConsequence(.nextGrant, dropsIDToken: isIDToken)
    }
}

/// The grant for the client's own credentials, for clients without a user (RFC 6749 section 4.4).
public struct ClientCredentialsGrant: Grant {
    public let name = "client_credentials"
    let scope: String?

    public init(scope: String?) { self.scope = scope }

    public var request: GrantRequest { GrantRequest(type: name, scope: scope) }
}
