import Cryptography
import Foundation
import Groundwork

/// E12 and the lab's own API: protected calls with an access token (MAG 5.7, 6).
extension GatewayCore {
    /// The token of a protected call (MAG checklist 56).
    ///
    /// - Throws: with status 401, a fault ending in 992 for no token or several, in 990 for an unknown or expired
    ///   one, in 993 for a disabled one, in 991 for one without `scope`; ending in 107, 108 and 206 for a device that
    ///   may not call.
    func bearer(of request: WireRequest, at endpoint: Endpoint, scope: String?, now: Date) throws -> LabAccessToken {
        func refused(_ suffix: Int, _ error: String, _ text: String) -> GatewayFault {
            GatewayFault(endpoint.errorPrefix + suffix, status: 401, error, text)
        }
        guard request.headerCount("authorization") == 1,
            case .bearer(let value)? = request.header("authorization").flatMap(Credentials.init(header:))
        else { throw refused(992, "invalid_request", "The access token is missing, or there is more than one") }
        guard let token = state.accessTokens[value], token.expiresAt > now else {
            throw refused(990, "invalid_token", "The access token is unknown or has expired")
        }
        guard !token.isDisabled else { throw refused(993, "invalid_token", "The access token is disabled") }
        if let scope, !token.scopes.contains(scope) {
            throw refused(991, "insufficient_scope", "The access token lacks the scope \(scope)")
        }
        if request.header("mag-identifier") != nil {
            let device = try device(of: request, at: endpoint, missing: 107, now: now)
            guard device.magIdentifier == token.magIdentifier else {
                throw refused(990, "invalid_token", "The access token does not belong to the device")
            }
        }
        return token
    }

    /// E12. Refuses a token without a user.
    func userinfo(_ request: WireRequest, now: Date) throws -> WireResponse {
        let token = try bearer(of: request, at: .userinfo, scope: "openid", now: now)
        guard let user = configuration.users.first(where: { $0.name == token.user }) else {
            throw GatewayFault(
                Endpoint.userinfo.errorPrefix + 991, status: 401, "insufficient_scope",
                "The access token is not a user's")
        }
        var members: [String: JSON] = [
            "sub": .string(Hex.encode(SHA256.hash(Array("\(token.clientID) \(user.name)".utf8)))),
            "preferred_username": .string(user.name),
        ]
        if token.scopes.contains("profile") {
            members["name"] = .string(user.fullName)
            members["given_name"] = .string(user.givenName)
            members["family_name"] = .string(user.familyName)
        }
        if token.scopes.contains("email") { members["email"] = .string("\(user.name)@lab.test") }
        if token.scopes.contains("phone") { members["phone_number"] = user.phoneNumber.map(JSON.string) }
        if token.scopes.contains("address"), !user.address.isEmpty {
            members["address"] = .object(user.address.mapValues(JSON.string))
        }
        return .json(.object(members))
    }

    func hello(_ request: WireRequest, now: Date) throws -> WireResponse {
        let token = try bearer(of: request, at: .hello, scope: nil, now: now)
        let device = state.devices[token.magIdentifier]
        return .json([
            "message": .string("Hello, \(token.user ?? device?.name ?? "device")"),
            "device": .string(device?.deviceID ?? ""), "user": token.user.map(JSON.string) ?? .null,
            "time": .integer(now.epochSeconds),
        ])
    }

    /// Returns the headers without the access token.
    func echo(_ request: WireRequest, now: Date) throws -> WireResponse {
        _ = try bearer(of: request, at: .echo, scope: nil, now: now)
        var headers: [String: JSON] = [:]
        for header in request.headers where header.name.lowercased() != "authorization" {
            headers[header.name.lowercased()] = .string(header.value)
        }
        return .json([
            "method": .string(request.method), "query": .string(request.query), "headers": .object(headers),
            "body": .string(String(decoding: request.body, as: UTF8.self)),
            "body_base64": .string(Base64.encode(request.body)),
        ])
    }

    /// `GET /lab/scoped/{scope}`
    func scoped(_ request: WireRequest, now: Date) throws -> WireResponse {
        let scope = String(request.path.dropFirst(Endpoint.scoped.path.count + 1))
        let token = try bearer(of: request, at: .scoped, scope: scope, now: now)
        return .json(["scope": .string(scope), "scopes": .array(token.scopes.map(JSON.string))])
    }
}
