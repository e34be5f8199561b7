public import Cryptography
import FoundationEssentials
public import Groundwork
import HTTPClient

/// How the body of a call is signed: as a JWS with the body among its claims, in place of the body (MAG 6.7).
public struct BodySigning: Sendable {
    /// What is sent.
    public enum Wrapping: String, Sendable, CaseIterable {
        /// The token alone, as `text/plain`.
        case plain
        /// A JSON object with the token in the member `jwt`.
        case json
        /// A form with the token in the field `jwt`.
        case form
    }

    /// The seconds for which a signature is valid.
    public static let lifetimes: ClosedRange<Int64> = 1...86_400
    /// That of the protocol's clients (MAG 6.7).
    static let usualLifetime: Int64 = 300

    /// The claims that the caller makes, which take the place of those that a signature has by itself.
    public let claims: OwnClaims
    /// Whom the signature is for; `nil` for the gateway, by its host name.
    public let audience: String?
    /// From when the signature is valid, in seconds since 1970.
    public let notBefore: Int64?
    /// For how long the signature is valid, in seconds; `nil` for ``usualLifetime``.
    public var lifetime: Int64?
    public let wrapping: Wrapping
    /// The key; `nil` for that of the device's certificate.
    public var key: PrivateKey?

    /// - Throws: ``Unsignable/claimNotAllowed(name:fault:)``, also for a claim that is made twice: among the claims and
    ///   by a parameter of its own.
    public init(
        claims: [String: JSON] = [:], audience: String? = nil, notBefore: Int64? = nil, lifetime: Int64? = nil,
        wrapping: Wrapping = .plain
    ) throws(GatewayError) {
        self.claims = try OwnClaims(
            claims,
            besides: [
                audience.map { _ in "aud" }, notBefore.map { _ in "nbf" }, lifetime.map { _ in "exp" },
            ].compactMap(\.self))
        (self.audience, self.notBefore, self.lifetime, self.wrapping) = (audience, notBefore, lifetime, wrapping)
    }

    /// Replaces the body of a request by the signed one.
    ///
    /// For each attempt anew: after a refusal the client may be another, and no `jti` is used twice.
    ///
    /// - Throws: ``GatewayError``, `CryptographyError`
    func sign(
        _ request: inout HTTPRequest, by held: Holdings, as principal: Principal, at gateway: GatewayIdentity, now: Date
    ) async throws {
        let content = try SignedContent(request.body, type: request.headers.first("Content-Type"))
        let token = try await token(of: content, by: held, as: principal, at: gateway, now: now)
        let (body, type) = wrapping.body(of: token)
        request.body = body
        request.headers.set("Content-Type", type)
    }

    /// - Parameters:
    ///   - content: what is signed; `nil` for nothing but the claims.
    ///   - principal: the user is the subject of the user's calls, otherwise the client is.
    /// - Throws: ``GatewayError``, `CryptographyError`
    func token(
        of content: SignedContent?, by held: Holdings, as principal: Principal, at gateway: GatewayIdentity, now: Date
    ) async throws -> String {
        guard let device = held.device, let client = held.client?.id, let key = key ?? held.keys[device.key] else {
            throw GatewayError.notRegistered
        }
        guard let algorithm = JWS.algorithm(of: key) else { throw CryptographyError.algorithmRefused("JWS") }
        let issued = claims.issued ?? Int64(now.timeIntervalSince1970)
        var usual: [String: JSON] = [
            "iss": .string("device://\(device.magIdentifier)/\(client)"),
            "aud": .string(audience ?? gateway.host),
            "sub": .string((principal == .user ? held.user?.name : nil) ?? client),
            "iat": .integer(issued),
            "exp": .integer(issued + (lifetime ?? Self.usualLifetime)),
            "jti": .string(try Random.uuid()),
        ]
        usual["nbf"] = notBefore.map(JSON.integer)
        usual["content"] = content?.value
        usual["content-type"] = content.map { .string($0.mediaType) }
        let all = claims.values.merging(usual) { own, _ in own }
        let payload = JSON.object(all).bytes
        return try await key.signing { try JWS.sign(payload, algorithm: algorithm, key: .key(key)) }
    }
}

extension BodySigning.Wrapping {
    fileprivate func body(of token: String) -> (body: [UInt8], type: String) {
        switch self {
        case .plain: (Array(token.utf8), "text/plain")
        case .json: (JSON.object(["jwt": .string(token)]).bytes, "application/json")
        case .form: (FormBody([("jwt", token)]).bytes, FormBody.contentType)
        }
    }
}
