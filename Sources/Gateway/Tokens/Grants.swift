import Cryptography
import FoundationEssentials

/// By refresh token. Each works once, so the session drops it as soon as the gateway answered (5.3).
struct RefreshTokenGrant: Grant {
    let name = "refresh_token"

    func request(_ situation: GrantSituation) -> GrantRequest? {
        // A refresh cannot widen the scope (RFC 6749 section 6).
        guard let token = situation.refreshToken, situation.additionalScope == nil else { return nil }
        return GrantRequest(type: name, fields: [("refresh_token", token)], scope: nil, spendsRefreshToken: true)
    }

    func consequence(of refusal: Refusal) -> GrantConsequence {
        GrantConsequence(step: refusal.concernsClient ? .fail : .nextGrant)
    }
}

/// By the id_token of a session, while single sign-on is on.
struct IDTokenGrant: Grant {
    let name = "id_token"

    func request(_ situation: GrantSituation) -> GrantRequest? {
        guard situation.configuration.singleSignOn, let idToken = situation.idToken,
            idToken.expires.map({ $0 >= situation.now }) ?? true
        else { return nil }
        let scope = Scope.requested(
            configured: situation.configuration.scope, additional: situation.additionalScope, standard: "openid phone email",
            singleSignOn: true, addsSession: false)
        return GrantRequest(type: idToken.type, fields: [("assertion", idToken.value)], scope: scope)
    }

    func consequence(of refusal: Refusal) -> GrantConsequence {
        refusal.concernsClient ? GrantConsequence(step: .fail) : GrantConsequence(step: .nextGrant, dropsIDToken: true)
    }
}

/// By the client's own credentials: for boards without a user.
struct ClientCredentialsGrant: Grant {
    let name = "client_credentials"

    func request(_ situation: GrantSituation) -> GrantRequest? {
        let configuration = situation.configuration
        let scope = Scope.requested(
            configured: configuration.scope, additional: situation.additionalScope, standard: "openid",
            singleSignOn: configuration.singleSignOn, addsSession: true)
        return GrantRequest(type: name, fields: [], scope: scope)
    }

    func consequence(of refusal: Refusal) -> GrantConsequence { GrantConsequence(step: .fail) }
}
