import Cryptography
import Foundation
import Groundwork

/// E19 and E20: a device with a logged-in user authorizes another one (MAG 7.3).
extension GatewayCore {
    /// E19, by GET or POST (MAG checklist 64). Repeating it is harmless until the code has been used.
    ///
    /// - Throws: what ``bearer(of:at:scope:now:)`` throws, and faults ending in 991 for a token without a user, in
    ///   103 without a client certificate, in 107 without a mag-identifier, in 110 for a session that is unknown,
    ///   ended, used or denied.
    mutating func authorizeDevice(_ request: WireRequest, now: Date) throws -> WireResponse {
        let endpoint = Endpoint.deviceAuthorization
        let token = try bearer(of: request, at: endpoint, scope: nil, now: now)
        guard let user = token.user else {
            throw GatewayFault(
                endpoint.errorPrefix + 991, status: 401, "insufficient_scope",
                "The access token is not a user's")
        }
        let device = try device(of: request, at: endpoint, missing: 107, now: now)
        guard request.certificate != nil else {
            throw GatewayFault(
                endpoint.errorPrefix + 103, "invalid_request", "A TLS client certificate is required")
        }
        let session = try openAuthorization(
            String(request.path.dropFirst(endpoint.path.count + 1)), at: endpoint, now: now)
        try grant(session, to: user, at: endpoint, now: now)
        var response = WireResponse.text("authorized\n")
        response.note = "\(user) authorized a login from \(device.name)"
        return response
    }

    /// E20. A pending session is answered with an empty code, because one of the known clients takes a missing one
    /// for an error (MAG checklist 64).
    ///
    /// The same code is returned until it is used, so that a lost answer does no harm.
    /// - Throws: a fault ending in 110 for a session that is unknown, ended or used, in 123 or 124 for one that a
    ///   user refused.
    func poll(_ request: WireRequest, now: Date) throws -> WireResponse {
        let endpoint = Endpoint.poll
        let id = String(request.path.dropFirst(endpoint.path.count + 1).dropLast(Endpoint.pollSuffix.count))
        if case .denied(let suffix)? = authorizations[id]?.progress {
            throw GatewayFault(endpoint.errorPrefix + suffix, "access_denied", "The login was refused")
        }
        let session = try openAuthorization(id, at: endpoint, now: now)
        guard let code = session.code else { return .json(["code": "", "state": ""]) }
        return .json(["code": .string(code.value), "state": .string(session.state ?? "")])
    }

    /// A session that can still be authorized, or whose code has not been used yet.
    /// - Throws: a fault ending in 110
    func openAuthorization(_ id: String, at endpoint: Endpoint, now: Date) throws -> Authorization {
        guard let session = authorizations[id], session.isOpen(now) else { throw Self.sessionEnded(at: endpoint) }
        return session
    }

    /// The code for `user`; the existing one if it is theirs.
    /// - Throws: a fault ending in 110 if another user has authorized the session.
    @discardableResult
    mutating func grant(_ session: Authorization, to user: String, at endpoint: Endpoint, now: Date) throws
        -> AuthorizationCode
    {
        if let code = session.code {
            guard code.user == user else { throw Self.sessionEnded(at: endpoint) }
            return code
        }
        let code = AuthorizationCode(
            value: try Self.newSecret(), user: user,
            expiresAt: now + TimeInterval(configuration.lives.authorizationCode))
        authorizations[session.id]?.progress = .authorized(code)
        return code
    }

    private static func sessionEnded(at endpoint: Endpoint) -> GatewayFault {
        GatewayFault(endpoint.errorPrefix + 110, "invalid_request", "The authorization session is unknown or has ended")
    }
}
