import Cryptography
import Foundation
import Groundwork

/// E9, E10 and E11: ending tokens and sessions (MAG 5.8, 5.9).
extension GatewayCore {
    /// E9, by DELETE or POST, in the query or in the form (MAG quirk Q29, MAG checklist 60).
    ///
    /// An unknown token counts as revoked already (RFC 7009 section 2.2). Revoking either token of a login revokes
    /// all tokens of that login.
    mutating func revoke(_ request: WireRequest, now: Date) throws -> WireResponse {
        let endpoint = Endpoint.revocation
        let form = try form(of: request, at: endpoint)
        let query = Parameters(query: request.query)
        let client: ClientInstance
        if request.header("authorization") == nil, let id = form["client_id"] {
            client = try self.client(id: id, secret: form["client_secret"], at: endpoint, now: now)
        } else {
            client = try self.client(inHeader: "authorization", of: request, at: endpoint, now: now)
        }
        guard let token = query?["token"] ?? form["token"] else {
            throw GatewayFault(endpoint.errorPrefix + 103, "invalid_request", "token is missing")
        }
        if let hint = query?["token_type_hint"] ?? form["token_type_hint"] {
            guard ["refresh_token", "access_token"].contains(hint) else {
                throw GatewayFault(
                    endpoint.errorPrefix + 118, status: 503, "unsupported_token_type",
                    "The token type is not supported")
            }
        }
        let owner =
            state.refreshTokens[token].map { ($0.clientID, $0.family) }
            ?? state.accessTokens[token].map { ($0.clientID, $0.family) }
        if let (clientID, family) = owner {
            guard clientID == client.clientID else {
                throw GatewayFault(
                    endpoint.errorPrefix + 117, "unauthorized_client",
                    "The token was issued to another client")
            }
            state.accessTokens = state.accessTokens.filter { $0.value.family != family }
            state.refreshTokens = state.refreshTokens.filter { $0.value.family != family }
        }
        return .json(["result": "revoked"])
    }

    /// E10. Without an id_token the sessions of the client on the device end (MAG checklist 61).
    mutating func logOut(_ request: WireRequest, now: Date) throws -> WireResponse {
        let endpoint = Endpoint.logout
        let client = try client(inHeader: "authorization", of: request, at: endpoint, now: now)
        let device = try device(of: request, at: endpoint, missing: 107, now: now)
        let form = try form(of: request, at: endpoint)
        let magIdentifier = device.magIdentifier
        let users = (state.loggedIn(now)[magIdentifier] ?? []).sorted()
        if let idToken = form["id_token"] {
            guard let session = try? session(ofIDToken: idToken, magIdentifier: magIdentifier, now: now) else {
                throw GatewayFault(endpoint.errorPrefix + 103, "invalid_request", "The id_token is invalid or expired")
            }
            state.sessions[session.jti] = nil
        }
        let allApps = form["logout_apps"] == "true"
        state.sessions = state.sessions.filter { _, session in
            session.magIdentifier != magIdentifier || !(allApps || session.clientID == client.clientID)
        }
        state.revokeTokens { mag, id in mag == magIdentifier && (allApps || id == client.clientID) }
        var response = WireResponse.json(["session_status": "logged out"])
        response.note = users.isEmpty ? nil : "\(users.joined(separator: ", ")) logged out on \(device.name)"
        return response
    }

    /// E11.
    func sessionStatus(_ request: WireRequest, now: Date) throws -> WireResponse {
        let token = try bearer(of: request, at: .sessionStatus, scope: nil, now: now)
        guard let idToken = Parameters(query: request.query)?["id_token"] else {
            throw GatewayFault(Endpoint.sessionStatus.errorPrefix + 103, "invalid_request", "id_token is missing")
        }
        let lives = (try? session(ofIDToken: idToken, magIdentifier: token.magIdentifier, now: now)) != nil
        return .json(lives ? ["session": "active"] : ["session_status": "none"])
    }
}
