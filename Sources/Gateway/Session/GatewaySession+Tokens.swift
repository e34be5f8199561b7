import Cryptography
import FoundationEssentials
import Groundwork
import HTTPClient
import OAuth

/// The token endpoint E8 and revocation E9 (MAG 5).
extension GatewaySession {
    /// Inside an operation: an access token by the first grant that is not refused (MAG 5.3).
    func obtainToken(_ additionalScope: String?, as principal: Principal) async throws {
        do {
            switch principal {
            case .board:
                let grants = GatewayGrants(configuration: configuration, additionalScope: additionalScope)
                try await tryGrants(grants.ofBoard(holdings().tokens, at: clock()), as: .board)
            case .user: try await obtainUserToken(additionalScope)
            }
        } catch let error as GatewayError {
            let error = try await withActivation(error)
            if principal == .board { events.send(.tokenDidFail(error)) }
            throw error
        }
        let granted = try await holdings()[principal].access?.scope ?? ""
        guard GatewayScope.suffices(granted, for: additionalScope) else {
            throw GatewayError.scopeNotGranted(requested: additionalScope ?? "", granted: granted)
        }
    }

    /// Asks by each grant in turn, until one is not refused or a refusal is the outcome.
    ///
    /// - Parameter user: who is logged in with the token that comes, where it is a log-in.
    func tryGrants(_ grants: [any Grant], as principal: Principal, loggingIn user: HeldUser? = nil) async throws {
        for grant in grants {
            let request = grant.request
            killPoint("token-begun")
            var response = try await send(try await tokenRequest(request), for: .obtainToken)
            killPoint("token-answered")
            defer { wipe(&response.body) }
            switch GatewayRefusals(operation: .obtainToken).judge(response) {
            case .granted(let answer): return try await accept(answer, of: grant.name, request, as: principal, user)
            case .unusable(let fault): throw GatewayError.tokenAnswerInvalid(reason: fault.reason)
            // No answer, or one that is not the gateway's: everything is kept (MAG checklist 27).
            case .noWord: throw GatewayError.failure(response, .obtainToken)
            case .refused(let refusal, let subject):
                // What says nothing of the token ends nobody's log-in: a person would have to come back for it.
                let isSpared = principal == .user && subject == .passing
                let consequence = isSpared ? GrantConsequence(.fail) : grant.consequence(of: subject)
                try await drop(after: consequence, refreshToken: request.spendsRefreshToken, of: principal)
                if consequence.step == .fail { throw GatewayError.refused(refusal) }
            }
        }
        throw GatewayError.noGrantApplies
    }

    private func tokenRequest(_ grant: GrantRequest) async throws -> HTTPRequest {
        guard let client = try await holdings().client else { throw GatewayError.noGrantApplies }
        return try await request(
            "POST", .token, headers: ["Content-Type": FormBody.contentType, "Accept": "application/json"],
            body: client.authentication.form(grant))
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
        _ answer: TokenAnswer, of grant: String, _ request: GrantRequest, as principal: Principal, _ user: HeldUser?
    ) async throws {
        var next = try await holdings()
        if let user { next.user = user }
        let granted = answer.scope ?? request.scope ?? next[principal].access?.scope ?? configuration.scope ?? ""
        let token = HeldToken(
            value: answer.accessToken, lifetime: answer.lifetime, scope: granted, at: clock(), uptime: uptime())
        next[principal].access = token
        next[principal].refresh = answer.refreshToken
        if let value = answer.idToken {
            next[principal].id = try await validated(value, type: answer.idTokenType, next)
        }
        let wasPending = next.device?.isActive == false
        next.device?.isActive = true
        try await commit(next)
        killPoint("token-committed")
        if wasPending, let device = next.device { events.send(.deviceDidActivate(magIdentifier: device.magIdentifier)) }
        let expires = token.token(at: clock(), uptime: uptime()).expiresAt
        switch principal {
        case .board: events.send(.tokenDidArrive(grant: grant, expires: expires))
        case .user: events.send(.userTokenDidArrive(grant: grant, expires: expires))
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
        do {
            var keys: KeySet?
            if let id = try IDTokenValidation.neededKey(compact) { keys = try await self.keys(having: id) }
            let validation = IDTokenValidation(client: client, magIdentifier: device.magIdentifier, now: clock())
            return HeldIDToken(value: value, type: type, expires: try validation.validate(compact, keys: keys))
        } catch let fault as IDTokenFault {
            throw GatewayError(fault)
        }
    }

    /// The published keys, read again once when they lack the one that is needed (MAG checklist 23).
    private func keys(having id: String) async throws -> KeySet {
        if let publishedKeys, publishedKeys[id] != nil { return publishedKeys }
        let keys = try await fetchKeys()
        publishedKeys = keys
        return keys
    }

    private func fetchKeys() async throws -> KeySet {
        let discovery = try await succeed(publicRequest("GET", GatewayEndpoint.discoveryPath), for: .discover)
        let address: String
        do {
            address = try ServerMetadata(discovery.body).required(.keys)
        } catch {
            throw GatewayError.unexpectedAnswer(.discover, status: 200, reason: error.reason)
        }
        let response = try await succeed(publicRequest("GET", address), for: .fetchKeys)
        do {
            return try KeySet(response.body)
        } catch {
            throw GatewayError.unexpectedAnswer(.fetchKeys, status: 200, reason: error.reason)
        }
    }

    // MARK: Revocation

    /// Ends the access token, at the gateway where there is a refresh token to name it by, then here (MAG 5.8).
    public func revokeTokens() async throws {
        try await operations.join(.revoke) { try await self.noted { try await self.revoke() } }
    }

    private func revoke() async throws {
        let current = try await holdings()
        if let token = current.tokens.refresh, let client = current.client { try await revoke(token, by: client) }
        var next = try await holdings()
        next.tokens.access = nil
        next.tokens.refresh = nil
        try await commit(next)
        events.send(.tokensDidRevoke)
    }

    /// E9.
    func revoke(_ refreshToken: SecretBytes, by client: ClientCredentials) async throws {
        let query = "?token=\(PercentEncoding.encode(refreshToken.exposedText()))&token_type_hint=refresh_token"
        let request = try await request(
            "DELETE", .revoke, query: query, headers: ["Authorization": client.authentication.basic])
        _ = try await succeed(request, for: .revokeToken)
    }
}
