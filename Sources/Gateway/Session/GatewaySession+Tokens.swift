import Cryptography
import FoundationEssentials
import Groundwork
import HTTPClient

/// The token endpoint E8 and revocation E9 (gateway protocol 5).
extension GatewaySession {
    /// Inside an operation: an access token by the first grant that is not refused (5.3).
    func obtainToken(_ additionalScope: String?) async throws {
        do {
            try await tryGrants(additionalScope)
        } catch let error as GatewayError {
            let error = try await withActivation(error)
            events.send(.tokenDidFail(error))
            throw error
        }
        let granted = try await holdings().accessToken?.scope ?? ""
        guard Scope.suffices(granted, for: additionalScope) else {
            throw GatewayError.scopeNotGranted(requested: additionalScope ?? "", granted: granted)
        }
    }

    private func tryGrants(_ additionalScope: String?) async throws {
        for grant in grants {
            let holdings = try await holdings()
            let situation = GrantSituation(
                configuration: configuration, now: clock(), refreshToken: holdings.refreshToken, idToken: holdings.idToken,
                additionalScope: additionalScope)
            guard let request = grant.request(situation) else { continue }
            // No answer, or one that is not the gateway's: everything is kept (checklist 27).
            var response = try await send(try await tokenRequest(request), for: .obtainToken)
            defer { wipe(&response.body) }
            if response.status == 200 { return try await accept(response, of: grant, request) }
            guard let refusal = Refusal(response, to: .obtainToken) else {
                throw GatewayError.failure(response, .obtainToken)
            }
            let consequence = grant.consequence(of: refusal)
            try await drop(after: consequence, refreshToken: request.spendsRefreshToken)
            if consequence.step == .fail { throw GatewayError.refused(refusal) }
        }
        throw GatewayError.noGrantApplies
    }

    private func tokenRequest(_ grant: GrantRequest) async throws -> HTTPRequest {
        guard let client = try await holdings().client else { throw GatewayError.noGrantApplies }
        var form = FormBody([("grant_type", grant.type)])
        for field in grant.fields { form.add(field.name, field.value.exposedText()) }
        if let scope = grant.scope { form.add("scope", scope) }
        form.add("client_id", client.id)
        form.add("client_secret", client.secret.exposedText())
        return try await request(
            "POST", .token, headers: ["Content-Type": FormBody.contentType, "Accept": "application/json"], body: form.bytes)
    }

    private func drop(after consequence: GrantConsequence, refreshToken: Bool) async throws {
        guard refreshToken || consequence.dropsIDToken else { return }
        var next = try await holdings()
        if refreshToken {
            next.refreshToken = nil
            next.accessToken = nil
        }
        if consequence.dropsIDToken { next.idToken = nil }
        try await commit(next)
    }

    private func accept(_ response: HTTPResponse, of grant: any Grant, _ request: GrantRequest) async throws {
        let answer: TokenAnswer
        do {
            answer = try TokenAnswer(response.body)
        } catch {
            throw GatewayError.tokenAnswerInvalid(reason: error.reason)
        }
        var next = try await holdings()
        let granted = answer.scope ?? request.scope ?? next.accessToken?.scope ?? configuration.scope ?? ""
        let token = HeldToken(
            value: answer.accessToken, lifetime: answer.lifetime, scope: granted, at: clock(), uptime: uptime())
        next.accessToken = token
        next.refreshToken = answer.refreshToken
        if let idToken = try await validated(answer, next) { next.idToken = idToken }
        let wasPending = next.device?.isActive == false
        next.device?.isActive = true
        try await commit(next)
        if wasPending, let device = next.device { events.send(.deviceDidActivate(magIdentifier: device.magIdentifier)) }
        events.send(.tokenDidArrive(grant: grant.name, expires: token.token(at: clock(), uptime: uptime()).expiresAt))
    }

    /// While the device awaits activation, "not active" is no failure but what was announced.
    private func withActivation(_ error: GatewayError) async throws -> GatewayError {
        guard case .refused(let refusal) = error, refusal.meaning == .deviceNotActive,
            let device = try await holdings().device, !device.isActive
        else { return error }
        return .awaitingActivation(magIdentifier: device.magIdentifier)
    }

    // MARK: id_token

    private func validated(_ answer: TokenAnswer, _ holdings: Holdings) async throws -> HeldIDToken? {
        guard let value = answer.idToken else { return nil }
        guard answer.idTokenType == HeldIDToken.jwtBearer else {
            return HeldIDToken(value: value, type: answer.idTokenType, expires: nil)
        }
        guard let client = holdings.client, let device = holdings.device else { throw GatewayError.notRegistered }
        let compact = value.exposedText()
        var keys: KeySet?
        if let id = try IDTokenValidation.neededKey(compact) { keys = try await self.keys(having: id) }
        let validation = IDTokenValidation(
            clientID: client.id, clientSecret: client.secret, magIdentifier: device.magIdentifier, now: clock())
        return HeldIDToken(
            value: value, type: answer.idTokenType, expires: try validation.validate(compact, keys: keys))
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
        guard let address = (try? JSON(parsing: discovery.body, limit: AnswerFault.bodyLimit))?["jwks_uri"]?.string else {
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
        try await flights.join(.revoke) { try await self.noted { try await self.revoke() } }
    }

    private func revoke() async throws {
        let current = try await holdings()
        if let token = current.refreshToken, let client = current.client {
            let query = "?token=\(percentEncoded(token.exposedText()))&token_type_hint=refresh_token"
            let request = try await request("DELETE", .revoke, query: query, headers: ["Authorization": client.basic])
            _ = try await succeed(request, for: .revokeToken)
        }
        var next = try await holdings()
        next.accessToken = nil
        next.refreshToken = nil
        try await commit(next)
        events.send(.tokensDidRevoke)
    }
}
