import Cryptography
import Foundation
import Groundwork

/// E8: tokens (MAG 5.1 to 5.4).
extension GatewayCore {
    /// The result of a grant: what it has proven and may obtain.
    struct Granted {
        var user: String?
        var scopes: [String]
        /// Kept through refreshes; a new login starts a new one.
        var family: String
        var refreshes: Bool
        /// Whether an id_token is issued too, if the scope requests one.
        var opensSession: Bool
    }

    /// The input of a grant.
    struct TokenRequest {
        var form: Parameters
        var client: ClientInstance
        var device: LabDevice
        var now: Date
    }

    typealias Grant = @Sendable (inout GatewayCore, TokenRequest) throws -> Granted

    /// Every grant the lab knows, by `grant_type`.
    private static let grants: [String: Grant] = [
        "client_credentials": { core, request in try core.clientCredentials(request) },
        "password": { core, request in try core.password(request) },
        "refresh_token": { core, request in try core.refresh(request) },
        IDToken.type: { core, request in try core.assertion(request) },
        "authorization_code": { core, request in try core.authorizationCode(request) },
    ]

    mutating func issueToken(_ request: WireRequest, now: Date) throws -> WireResponse {
        let endpoint = Endpoint.token
        let form = try form(of: request, at: endpoint)
        let client = try tokenClient(of: request, form: form, now: now)
        let device = try device(of: request, at: endpoint, missing: 101, now: now)
        guard let grantType = form["grant_type"] else {
            throw GatewayFault(endpoint.errorPrefix + 103, "invalid_request", "grant_type is missing")
        }
        guard let grant = Self.grants[grantType] else {
            throw GatewayFault(endpoint.errorPrefix + 119, "unsupported_grant_type", "The grant type is not supported")
        }
        state.sweep(now)
        let granted = try grant(&self, TokenRequest(form: form, client: client, device: device, now: now))
        return try answer(granted, to: client, device: device, now: now)
    }

    /// The client, from the form or from Basic; the form takes precedence, and an empty `Authorization` counts as
    /// none (MAG quirk Q3, MAG checklist 53).
    private func tokenClient(of request: WireRequest, form: Parameters, now: Date) throws -> ClientInstance {
        if form["client_id"] != nil || request.header("authorization") == nil {
            return try client(id: form["client_id"], secret: form["client_secret"], at: .token, now: now)
        }
        return try client(inHeader: "authorization", of: request, at: .token, now: now)
    }

    private mutating func answer(_ granted: Granted, to client: ClientInstance, device: LabDevice, now: Date) throws
        -> WireResponse
    {
        let lives = configuration.lives
        let access = LabAccessToken(
            value: try Self.newSecret(), family: granted.family, clientID: client.clientID,
            magIdentifier: device.magIdentifier, user: granted.user, scopes: granted.scopes, issuedAt: now,
            expiresAt: now + TimeInterval(lives.accessToken))
        state.accessTokens[access.value] = access
        var members: [String: JSON] = [
            "access_token": .string(access.value), "token_type": "Bearer",
            "expires_in": .integer(Int64(lives.accessToken)), "scope": .string(granted.scopes.joined(separator: " ")),
        ]
        if granted.refreshes {
            let refresh = LabRefreshToken(
                value: try Self.newSecret(), family: granted.family, clientID: client.clientID,
                magIdentifier: device.magIdentifier, user: granted.user, scopes: granted.scopes,
                expiresAt: now + TimeInterval(lives.refreshToken))
            state.refreshTokens[refresh.value] = refresh
            members["refresh_token"] = .string(refresh.value)
        }
        if granted.opensSession, Set(granted.scopes).isSuperset(of: ["openid", "msso"]) {
            members["id_token"] = .string(try newSession(for: device, user: granted.user, client: client, now: now))
            members["id_token_type"] = .string(IDToken.type)
        }
        var response = WireResponse.json(.object(members))
        if granted.opensSession, let user = granted.user { response.note = "\(user) logged in on \(device.name)" }
        return response
    }
}

/// The grants.
extension GatewayCore {
    /// A token of the client. Production gateways return no refresh token and no session with it (MAG 5.2).
    private func clientCredentials(_ request: TokenRequest) throws -> Granted {
        Granted(
            user: nil, scopes: try scopes(for: request), family: try Random.uuid(),
            refreshes: configuration.givesSessionsToClients, opensSession: configuration.givesSessionsToClients)
    }

    private func password(_ request: TokenRequest) throws -> Granted {
        guard let name = request.form["username"], let password = request.form["password"] else {
            throw GatewayFault(3_003_103, "invalid_request", "username and password are mandatory")
        }
        guard let user = user(named: name, password: password) else {
            throw GatewayFault(
                3_003_202, status: 401, "invalid_grant",
                "The given resource owner credentials were not valid")
        }
        return Granted(
            user: user.name, scopes: try scopes(for: request), family: try Random.uuid(), refreshes: true,
            opensSession: true)
    }

    /// Single use: the token is used up even if a later check fails (MAG checklist 54).
    private mutating func refresh(_ request: TokenRequest) throws -> Granted {
        let invalid = GatewayFault(3_003_113, "invalid_grant", "The refresh token is unknown, used or expired")
        guard let value = request.form["refresh_token"] else {
            throw GatewayFault(3_003_103, "invalid_request", "refresh_token is missing")
        }
        guard let token = state.refreshTokens[value], token.expiresAt > request.now,
            token.clientID == request.client.clientID, token.magIdentifier == request.device.magIdentifier
        else { throw invalid }
        state.refreshTokens[value] = nil
        return Granted(
            user: token.user, scopes: token.scopes, family: token.family, refreshes: true, opensSession: false)
    }

    /// Tokens for an open session of the device (MAG 12.1).
    private func assertion(_ request: TokenRequest) throws -> Granted {
        guard let assertion = request.form["assertion"] else {
            throw GatewayFault(3_003_103, "invalid_request", "assertion is missing")
        }
        if let user = outsideUser(of: assertion, now: request.now) {
            return Granted(
                user: user, scopes: try scopes(for: request), family: try Random.uuid(), refreshes: true,
                opensSession: true)
        }
        guard
            let session = try? session(
                ofIDToken: assertion, magIdentifier: request.device.magIdentifier, now: request.now)
        else { throw GatewayFault(3_003_113, "invalid_grant", "The id_token is invalid or expired") }
        return Granted(
            user: session.user, scopes: try scopes(for: request), family: session.jti, refreshes: true,
            opensSession: false)
    }

    private func scopes(for request: TokenRequest) throws -> [String] {
        try scopes(request.form["scope"], of: master(of: request.client), at: .token)
    }

    /// The requested scopes that the client is registered for; all of those if none is requested.
    /// - Throws: a fault ending in 115
    func scopes(_ asked: String?, of master: MasterClient?, at endpoint: Endpoint) throws -> [String] {
        let registered = (master?.scope ?? "").split(separator: " ").map(String.init)
        guard let asked else { return registered }
        let wanted = Set(asked.split(separator: " ").map(String.init))
        let granted = registered.filter(wanted.contains)
        guard !granted.isEmpty else {
            throw GatewayFault(
                endpoint.errorPrefix + 115, "invalid_scope",
                "No registered scope value for this client has been requested")
        }
        return granted
    }
}
