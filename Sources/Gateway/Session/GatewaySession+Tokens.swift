import Cryptography
import FoundationEssentials
import Groundwork
import HTTPClient

/// The token endpoint E8 and revocation E9 (gateway protocol 5).
extension GatewaySession {
    /// Inside an operation: an access token by the first grant that is not refused (5.3).
    func obtainToken(_ additionalScope: String?, as principal: Principal) async throws {
        do {
            switch principal {
            case .board: try await tryGrants(grants, additionalScope, as: .board)
            case .user: try await obtainUserToken(additionalScope)
            }
        } catch let error as GatewayError {
            let error = try await withActivation(error)
            if principal == .board { events.send(.tokenDidFail(error)) }
            throw error
        }
        let granted = try await holdings()[principal].access?.scope ?? ""
        guard Scope.suffices(granted, for: additionalScope) else {
            throw GatewayError.scopeNotGranted(requested: additionalScope ?? "", granted: granted)
        }
    }

    /// - Parameter user: who is logged in with the token that comes, where it is a log-in.
    func tryGrants(
        _ grants: [any Grant], _ additionalScope: String?, as principal: Principal, loggingIn user: HeldUser? = nil
    ) async throws {
        for grant in grants {
            let tokens = try await holdings()[principal]
            let situation = GrantSituation(
                configuration: configuration, now: clock(), refreshToken: tokens.refresh, idToken: tokens.id,
                additionalScope: additionalScope)
            guard let request = grant.request(situation) else { continue }
            // No answer, or one that is not the gateway's: everything is kept (checklist 27).
            killPoint("token-begun")
            var response = try await send(try await tokenRequest(request), for: .obtainToken)
            killPoint("token-answered")
            defer { wipe(&response.body) }
            if response.status == 200 { return try await accept(response, of: grant, request, as: principal, user) }
            guard let refusal = Refusal(response, to: .obtainToken) else {
                throw GatewayError.failure(response, .obtainToken)
            }
            let consequence = grant.consequence(of: refusal).sparing(principal, refusal)
            try await drop(after: consequence, refreshToken: request.spendsRefreshToken, of: principal)
            if consequence.step == .fail { throw GatewayError.refused(refusal) }
        }
        throw GatewayError.noGrantApplies
    }

    private func tokenRequest(_ grant: GrantRequest) async throws -> HTTPRequest {
        guard let client = try await holdings().client else { throw GatewayError.noGrantApplies }
        var form = FormBody([("grant_type", grant.type)])
        if let scope = grant.scope { form.add("scope", scope) }
        form.add("client_id", client.id)
        return try await request(
            "POST", .token, headers: ["Content-Type": FormBody.contentType, "Accept": "application/json"],
            body: form.bytes(with: grant.fields + [("client_secret", client.secret)]))
    }

    private func drop(
        after consequence: GrantConsequence, refreshToken: Bool, of principal: Principal
    ) async throws {
        guard refreshToken || consequence.dropsIDToken else { return }
        var next = try await holdings()
        if refreshToken {
            next[principal].refresh = nil
            next[principal].access = nil
        }
        if consequence.dropsIDToken { next[principal].id = nil }
        next.endUserWithoutTokens()
        try await commit(next)
    }

    private func accept(
        _ response: HTTPResponse, of grant: any Grant, _ request: GrantRequest, as principal: Principal, _ user: HeldUser?
    ) async throws {
        let answer: TokenAnswer
        do {
            answer = try TokenAnswer(response.body)
        } catch {
            throw GatewayError.tokenAnswerInvalid(reason: error.reason)
        }
        var next = try await holdings()
        if let user { next.user = user }
        let granted = answer.scope ?? request.scope ?? next[principal].access?.scope ?? configuration.scope ?? ""
        let token = HeldToken(
            value: answer.accessToken, lifetime: answer.lifetime, scope: granted, at: clock(), uptime: uptime())
        next[principal].access = token
        next[principal].refresh = answer.refreshToken
        if let value = answer.idToken { next[principal].id = try await validated(value, type: answer.idTokenType, next) }
        let wasPending = next.device?.isActive == false
        next.device?.isActive = true
        try await commit(next)
        killPoint("token-committed")
        if wasPending, let device = next.device { events.send(.deviceDidActivate(magIdentifier: device.magIdentifier)) }
        let expires = token.token(at: clock(), uptime: uptime()).expiresAt
        switch principal {
        case .board: events.send(.tokenDidArrive(grant: grant.name, expires: expires))
        case .user: events.send(.userTokenDidArrive(grant: grant.name, expires: expires))
        }
    }

    /// While the device awaits activation, "not active" is no failure but what was announced.
    func withActivation(_ error: GatewayError) async throws -> GatewayError {
        guard case .refused(let refusal) = error, refusal.meaning == .deviceNotActive,
            let device = try await holdings().device, !device.isActive
        else { return error }
        return .awaitingActivation(magIdentifier: device.magIdentifier)
    }

    // MARK: id_token

    /// - Parameter holdings: the client and the device that it has to be for.
    func validated(_ value: SecretBytes, type: String, _ holdings: Holdings) async throws -> HeldIDToken {
        guard type == HeldIDToken.jwtBearer else { return HeldIDToken(value: value, type: type, expires: nil) }
        guard let client = holdings.client, let device = holdings.device else { throw GatewayError.notRegistered }
        let compact = value.exposedText()
        var keys: KeySet?
        if let id = try IDTokenValidation.neededKey(compact) { keys = try await self.keys(having: id) }
        let validation = IDTokenValidation(
            clientID: client.id, clientSecret: client.secret, magIdentifier: device.magIdentifier, now: clock())
        return HeldIDToken(
            value: value, type: type, expires: try validation.validate(compact, keys: keys))
    }

    /// The published keys, read again once when they lack the one that is needed (checklist 23).
    private func keys(having id: String) async throws -> KeySet {
        if let publishedKeys, publishedKeys[id] != nil { return publishedKeys }
        let keys = try await fetchKeys()
        publishedKeys = keys
        return keys
    }

    private func fetchKeys() async throws -> KeySet {
        let discovery = try await succeed(publicRequest("GET", GatewayEndpoint.discoveryPath), for: .discover)
        guard let address = (try? JSON(parsing: discovery.body, limit: JSONAnswer.limit))?["jwks_uri"]?.string else {
            throw GatewayError.unexpectedAnswer(.discover, status: 200, reason: "it has no jwks_uri")
        }
        let response = try await succeed(publicRequest("GET", address), for: .fetchKeys)
        do {
            return try KeySet(response.body)
        } catch {
            throw GatewayError.unexpectedAnswer(.fetchKeys, status: 200, reason: error.reason)
        }
    }

    // MARK: Revocation

    /// Ends the access token, at the gateway where there is a refresh token to name it by, then here (5.8).
    public func revokeTokens() async throws {
        try await operations.join(.revoke) { try await self.noted { try await self.revoke() } }
    }

    private func revoke() async throws {
        let current = try await holdings()
        if let token = current.refreshToken, let client = current.client { try await revoke(token, by: client) }
        var next = try await holdings()
        next.accessToken = nil
        next.refreshToken = nil
        try await commit(next)
        events.send(.tokensDidRevoke)
    }

    /// E9.
    func revoke(_ refreshToken: SecretBytes, by client: ClientCredentials) async throws {
        let query = "?token=\(PercentEncoding.encode(refreshToken.exposedText()))&token_type_hint=refresh_token"
        let request = try await request("DELETE", .revoke, query: query, headers: ["Authorization": client.basic])
        _ = try await succeed(request, for: .revokeToken)
    }
}

extension GrantConsequence {
    /// A refusal that says nothing of the token ends nobody's log-in, as a person would have to come back for it (5.3).
    fileprivate func sparing(_ principal: Principal, _ refusal: Refusal) -> GrantConsequence {
        let isPassing =
            refusal.status >= 500 || refusal.status == 429 || [.deviceNotActive, .tokenLimitReached].contains(refusal.meaning)
        return principal == .user && isPassing ? GrantConsequence(step: .fail) : self
    }
}
