import FoundationEssentials
import OAuth

/// The grants that currently apply, in the order in which they are tried (MAG 5.3).
struct GatewayGrants {
    let configuration: GatewayConfiguration
    /// Scopes that the caller needs beyond the configured ones.
    var additionalScope: String?

    /// Grants for the board itself; the last one always applies.
    func ofBoard(_ tokens: HeldTokens, at now: Date) -> [any Grant] {
        ofUser(tokens, at: now) + [ClientCredentialsGrant(scope: credentialScope)]
    }

    /// Grants for the logged-in user. Each refresh token works once.
    func ofUser(_ tokens: HeldTokens, at now: Date) -> [any Grant] {
        let grants: [(any Grant)?] = [
            RefreshTokenGrant(tokens, additionalScope: additionalScope), session(tokens, at: now),
        ]
        return grants.compactMap(\.self)
    }

    /// The grant for a person who logs in on a registered device.
    func of(_ logIn: Login) -> any Grant {
        switch logIn {
        case .password(let credentials):
            PasswordGrant(userName: credentials.name, password: credentials.password, scope: credentialScope)
        case .code(let code, let session):
            AuthorizationCodeGrant(
                code: code, verifier: session.proof.verifier,
                redirectURI: session.redirectURI ?? configuration.redirectURI, scope: credentialScope)
        case .handedCode(let code):
            AuthorizationCodeGrant(
                code: code.value, verifier: code.verifier,
                redirectURI: code.redirectURI ?? configuration.redirectURI, scope: credentialScope)
        case .assertion(let assertion): OutsideAssertionGrant(assertion: assertion, scope: credentialScope)
        }
    }

    /// The grant by a session's id_token, while single sign-on is on.
    private func session(_ tokens: HeldTokens, at now: Date) -> (any Grant)? {
        guard configuration.singleSignOn else { return nil }
        let scope = GatewayScope.requested(
            configured: configuration.scope, additional: additionalScope, standard: "openid phone email",
            singleSignOn: true, addsSession: false)
        return AssertionGrant(idTokenOf: tokens, at: now, scope: scope)
    }

    /// The scope that a grant by the client's or a user's credentials requests (MAG 5.1).
    private var credentialScope: String {
        GatewayScope.requested(
            configured: configuration.scope, additional: additionalScope, standard: "openid",
            singleSignOn: configuration.singleSignOn, addsSession: true)
    }
}

/// The grant for a JWT from outside. It stands alone: unlike after the id_token of a session, a refusal is the outcome.
private struct OutsideAssertionGrant: Grant {
    let assertion: UserAssertion
    let scope: String
    var name: String { UserAssertion.grantName }

    var request: GrantRequest {
        AssertionGrant(type: assertion.type, assertion: assertion.token, scope: scope).request
    }
}
