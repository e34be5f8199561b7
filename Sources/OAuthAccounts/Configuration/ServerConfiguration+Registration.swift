import Cryptography
import FoundationEssentials
import Groundwork
import HTTPClient
import OAuth
import Vault

/// The client that the board asks a server for (RFC 7591).
extension ServerConfiguration {
    /// Chooses how to authenticate among what the server offers: as a public client, where a person logs in.
    ///
    /// - Throws: ``OAuthAccountError/configurationInvalid(reason:)``
    mutating func chooseAuthentication(of offered: [String]) throws(OAuthAccountError) {
        let wanted: [Authentication] =
            grant == .clientCredentials ? [.basic, .post, .privateKey] : [.none, .basic, .post, .privateKey]
        guard let choice = wanted.first(where: { offered.contains($0.rawValue) }) else {
            let names = DisplayText.oneLine(offered.joined(separator: ", "), limit: 256)
            throw .configurationInvalid(reason: "the server lets clients of this grant authenticate by \(names) only")
        }
        authentication = choice
    }

    /// What would be refused here is refused before the server makes a client.
    ///
    /// - Throws: ``OAuthAccountError/configurationInvalid(reason:)``
    func checkBeforeRegistration() throws(OAuthAccountError) {
        var draft = self
        (draft.clientID, draft.secret) = ("client", SecretBytes(utf8: "secret"))
        try draft.check()
    }

    /// Takes over what the server has made of what was asked for.
    ///
    /// - Throws: ``OAuthAccountError/configurationInvalid(reason:)`` if that cannot be used
    mutating func take(_ answer: ClientRegistration) throws(OAuthAccountError) {
        func refuse(_ reason: String) -> OAuthAccountError {
            .configurationInvalid(
                reason: "the client that the server has made \(DisplayText.oneLine(reason, limit: 256))")
        }
        clientID = answer.id
        let isGivenSecret = authentication == .none && answer.secret != nil
        let way = answer.authentication ?? (isGivenSecret ? Authentication.basic : authentication).rawValue
        guard let authentication = Authentication(rawValue: way) else { throw refuse("authenticates by \(way)") }
        self.authentication = authentication
        if authentication == .basic || authentication == .post {
            guard answer.secret != nil else { throw refuse("authenticates by \(way), and has no secret") }
            (secret, secretExpires) = (answer.secret, answer.secretExpires)
        }
        if authentication == .privateKey, let name = answer.algorithm, name != algorithm.rawValue {
            throw refuse("signs with \(name), not \(algorithm.rawValue)")
        }
        guard answer.grants.isEmpty || answer.grants.contains(registeredGrant) else {
            throw refuse("may not use \(registeredGrant), but \(answer.grants.joined(separator: ", "))")
        }
        if let first = answer.redirectURIs.first, !answer.redirectURIs.contains(redirectURI) { redirectURI = first }
        guard let allowed = answer.scope.map({ Scope.words($0) }) else { return }
        // Some servers, such as Keycloak, list all but the one that OpenID Connect itself demands.
        scope = Scope.list(scope).filter { allowed.contains($0) || $0 == "openid" }.joined(separator: " ")
    }

    /// The grant as clients register it.
    private var registeredGrant: String {
        switch grant {
        case .authorizationCode, .implicit, .password, .clientCredentials: grant.rawValue
        case .deviceCode: DeviceCodeGrant.name
        case .jwtBearer: HeldIDToken.jwtBearer
        case .saml2Bearer: "urn:ietf:params:oauth:grant-type:saml2-bearer"
        }
    }

    /// The client's metadata (RFC 7591 section 2).
    func registration(named name: String, _ key: StoredKey?) -> JSON {
        let refreshes = grant != .clientCredentials && grant != .implicit
        let grants = [registeredGrant] + (refreshes ? ["refresh_token"] : [])
        let types: [JSON] =
            switch grant {
            case .authorizationCode: ["code"]
            case .implicit: [isOpenID ? "id_token token" : "token"]
            default: []
            }
        var members: [String: JSON] = [
            "client_name": .string(name), "grant_types": .array(grants.map(JSON.string)),
            "response_types": .array(types),
            "token_endpoint_auth_method": .string(authentication.rawValue), "redirect_uris": [.string(redirectURI)],
            // Redirection to this machine is for native clients (OpenID Connect Dynamic Client Registration section 2).
            "application_type": "native",
        ]
        if !scope.isEmpty { members["scope"] = .string(scope) }
        if let key {
            let assertion = SignedAssertion(key: key.key, keyID: key.reference.name, algorithm: algorithm)
            members["jwks"] = ["keys": [assertion.publicKey]]
            members["token_endpoint_auth_signing_alg"] = .string(algorithm.rawValue)
        }
        return .object(members)
    }
}
