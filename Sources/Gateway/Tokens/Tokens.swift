import Cryptography
import FoundationEssentials
import Groundwork
import HTTPClient
import OAuth

/// Obtains and revokes the tokens of the board and of its user: the token endpoint E8 and revocation E9 (MAG 5).
struct Tokens: Sendable {
    let store: HoldingsStore
    let exchange: GatewayExchange
    let idTokens: IDTokens

    /// Obtains an access token by the first grant that is not refused (MAG 5.3).
    func obtain(for need: Need, in operation: borrowing Operation) async throws {
        let grants = GatewayGrants(configuration: store.configuration, additionalScope: need.scope)
        do {
            switch need.principal {
            case .board:
                let held = try await store.holdings().board
                try await tryGrants(grants.ofBoard(held, at: store.clocks.date()), as: .board, in: operation)
            case .user: try await obtainOfUser(grants, in: operation)
            }
        } catch let error as GatewayError {
            let error = try await withActivation(error)
            if need.principal == .board { store.events.send(.tokenDidFail(error)) }
            throw error
        }
        let granted = try await store.holdings()[need.principal].access?.scope ?? ""
        guard GatewayScope.suffices(granted, for: need.scope) else {
            throw GatewayError.scopeNotGranted(requested: need.scope ?? "", granted: granted)
        }
    }

    /// Obtains an access token of the logged-in user. Logs the user out if no grant is left.
    func obtainOfUser(_ grants: GatewayGrants, in operation: borrowing Operation) async throws {
        guard let user = try await store.holdings().user else { throw GatewayError.userRequired }
        do {
            try await tryGrants(grants.ofUser(user.tokens, at: store.clocks.date()), as: .user, in: operation)
        } catch GatewayError.noGrantApplies {
            // A refresh token may be unused because it cannot widen the scope; then it is still valid.
            if try await store.holdings().user?.tokens.refresh == nil {
                try await store.update(in: operation) { $0.user = nil }
            }
            throw GatewayError.userRequired
        }
    }

    /// Tries each grant in turn until one is not refused or a refusal is final.
    ///
    /// - Parameter user: for a login, the user to log in with the new token.
    func tryGrants(
        _ grants: [any Grant], as principal: Principal, loggingIn user: HeldUser? = nil,
        in operation: borrowing Operation
    ) async throws {
        for grant in grants {
            let request = grant.request
            killPoint("token-begun")
            var response = try await exchange.send(try await self.request(request), for: .obtainToken)
            killPoint("token-answered")
            defer { wipe(&response.body) }
            switch GatewayRefusals(operation: .obtainToken).judge(response) {
            case .granted(let answer):
                return try await accept(answer, of: grant.name, request, as: principal, user, in: operation)
            case .unusable(let fault): throw GatewayError.tokenAnswerInvalid(reason: fault.reason)
            // The answer is not from the gateway itself: everything is kept (MAG checklist 27).
            case .notFromServer: throw GatewayError.failure(response, .obtainToken)
            case .refused(let refusal, let subject):
                // A refusal that is not about the token must not log the user out: the person would have to come back.
                let isSpared = principal == .user && subject == .passing
                let consequence = isSpared ? GrantConsequence(.fail) : grant.consequence(of: subject)
                try await drop(after: consequence, request, of: principal, in: operation)
                if consequence.step == .fail { throw GatewayError.refused(refusal) }
            }
        }
        throw GatewayError.noGrantApplies
    }

    private func request(_ grant: GrantRequest) async throws -> HTTPRequest {
        guard let client = try await store.holdings().client else { throw GatewayError.noGrantApplies }
        return try await exchange.request(
            "POST", at: store.configuration.path(of: .token),
            headers: ["Content-Type": FormBody.contentType, "Accept": "application/json"],
            body: client.authentication.form(grant))
    }

    private func drop(
        after consequence: GrantConsequence, _ request: GrantRequest, of principal: Principal,
        in operation: borrowing Operation
    ) async throws {
        let spends = request.spendsRefreshToken
        guard spends || consequence.dropsIDToken else { return }
        try await store.update(in: operation) { $0.apply(consequence, spendsRefreshToken: spends, of: principal) }
    }

    private func accept(
        _ answer: TokenAnswer, of grant: String, _ request: GrantRequest, as principal: Principal, _ user: HeldUser?,
        in operation: borrowing Operation
    ) async throws {
        let held = try await store.holdings()
        let granted =
            answer.scope ?? request.scope ?? (user?.tokens ?? held[principal]).access?.scope
            ?? store.configuration.scope ?? ""
        let now = store.clocks.now
        let token = HeldToken(
            value: answer.accessToken, lifetime: answer.lifetime, scope: granted, at: now.date, uptime: now.uptime)
        var idToken: HeldIDToken?
        if let value = answer.idToken {
            idToken = try await idTokens.validated(value, type: answer.idTokenType, held)
        }
        try await store.update(in: operation) { [idToken] next in
            if let user { next.user = user }
            next[principal].access = token
            next[principal].refresh = answer.refreshToken
            if let idToken { next[principal].id = idToken }
            next.device?.isActive = true
        }
        // Without the user there is no place for the token.
        if principal == .user { try await store.holdings().requireUnlocked() }
        killPoint("token-committed")
        if let device = held.device, !device.isActive {
            store.events.send(.deviceDidActivate(magIdentifier: device.magIdentifier))
        }
        let expires = token.token(at: store.clocks.date(), uptime: store.clocks.uptime()).expiresAt
        switch principal {
        case .board: store.events.send(.tokenDidArrive(grant: grant, expires: expires))
        case .user: store.events.send(.userTokenDidArrive(grant: grant, expires: expires))
        }
    }

    /// While the device awaits activation, "not active" is not a failure but expected.
    func withActivation(_ error: GatewayError) async throws -> GatewayError {
        guard case .refused(let refusal) = error, refusal.meaning == .deviceNotActive,
            let device = try await store.holdings().device, !device.isActive
        else { return error }
        return .awaitingActivation(magIdentifier: device.magIdentifier)
    }

    // MARK: Revocation

    /// Ends the board's access token: at the gateway if there is a refresh token to identify it, then here (MAG 5.8).
    func revoke(in operation: borrowing Operation) async throws {
        let held = try await store.holdings()
        if let token = held.board.refresh, let client = held.client { try await revoke(token, by: client) }
        try await store.update(in: operation) {
            $0.board.access = nil
            $0.board.refresh = nil
        }
        store.events.send(.tokensDidRevoke)
    }

    /// Revokes a refresh token at endpoint E9.
    ///
    /// - Parameter patience: how long the gateway may take; `nil` for the usual time.
    func revoke(
        _ refreshToken: SecretBytes, by client: ClientCredentials, within patience: Duration? = nil
    ) async throws {
        let query = "?token=\(PercentEncoding.encode(refreshToken.exposedText()))&token_type_hint=refresh_token"
        var request = try await exchange.request(
            "DELETE", at: store.configuration.path(of: .revoke) + query,
            headers: ["Authorization": client.authentication.basic])
        if let patience { request.timeout = patience }
        _ = try await exchange.succeed(request, for: .revokeToken)
    }
}
