import Cryptography
import FoundationEssentials

/// By user name and password. A refusal is the outcome: there is nothing else to try.
struct PasswordGrant: Grant {
    static let name = "password"

    let credentials: UserCredentials
    var name: String { Self.name }

    func request(_ situation: GrantSituation) -> GrantRequest? {
        GrantRequest(
            type: Self.name,
            fields: [("username", SecretBytes(utf8: credentials.name)), ("password", credentials.password)],
            scope: situation.credentialScope)
    }

    func consequence(of refusal: Refusal) -> GrantConsequence { GrantConsequence(step: .fail) }
}

/// By a code that the gateway gave to whoever authorised this board (gateway protocol 5.6). It works once.
struct AuthorizationCodeGrant: Grant {
    static let name = "authorization_code"

    let code: SecretBytes
    let verifier: SecretBytes
    let redirectURI: String?
    var name: String { Self.name }

    func request(_ situation: GrantSituation) -> GrantRequest? {
        var fields = [("code", code), ("code_verifier", verifier)]
        if let redirectURI { fields.append(("redirect_uri", SecretBytes(utf8: redirectURI))) }
        return GrantRequest(type: Self.name, fields: fields, scope: situation.credentialScope)
    }

    func consequence(of refusal: Refusal) -> GrantConsequence { GrantConsequence(step: .fail) }
}

extension GrantSituation {
    /// What a grant by a user's credentials asks for (gateway protocol 5.1).
    fileprivate var credentialScope: String {
        Scope.requested(
            configured: configuration.scope, additional: additionalScope, standard: "openid",
            singleSignOn: configuration.singleSignOn, addsSession: true)
    }
}
