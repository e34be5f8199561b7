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
    /// The most claims of the caller's own.
    public static let claimLimit = 64
    /// The claims that the signature has anyway.
    static let reserved: Set = ["iss", "aud", "sub", "exp", "iat", "nbf", "jti", "content", "content-type"]

    /// The caller's own claims.
    public let claims: [String: JSON]
    /// Whom the signature is for; `nil` for the gateway, by its host name.
    public let audience: String?
    /// From when the signature is valid, in seconds since 1970.
    public let notBefore: Int64?
    public let wrapping: Wrapping
    /// For how long the signature is valid, in seconds.
    public var lifetime: Int64 = 300
    /// The key; `nil` for that of the device's certificate.
    public var key: PrivateKey?

    /// - Throws: ``Unsignable/claimNotAllowed(name:)``
    public init(
        claims: [String: JSON] = [:], audience: String? = nil, notBefore: Int64? = nil, wrapping: Wrapping = .plain
    ) throws(GatewayError) {
        if let name = claims.keys.sorted().first(where: { Self.reserved.contains($0) || $0.isEmpty }) {
            throw .unsignable(.claimNotAllowed(name: name))
        }
        (self.claims, self.audience, self.notBefore, self.wrapping) = (claims, audience, notBefore, wrapping)
    }

    /// Replaces the body of a request by the signed one.
    ///
    /// For each attempt anew: after a refusal the client may be another, and no `jti` is used twice.
    ///
    /// - Parameter principal: the user is the subject of the user's calls, otherwise the client is.
    /// - Throws: ``GatewayError``, `CryptographyError`
    func sign(
        _ request: inout HTTPRequest, by held: Holdings, as principal: Principal, at gateway: GatewayIdentity, now: Date
    ) throws {
        let content = try SignedContent(request.body, type: request.headers.first("Content-Type"))
        guard let device = held.device, let client = held.client?.id, let key = key ?? held.keys[device.key] else {
            throw GatewayError.notRegistered
        }
        guard let algorithm = JWS.algorithm(of: key) else { throw CryptographyError.algorithmRefused("JWS") }
        let seconds = Int64(now.timeIntervalSince1970)
        var claims = claims
        claims["iss"] = .string("device://\(device.magIdentifier)/\(client)")
        claims["aud"] = .string(audience ?? gateway.host)
        claims["sub"] = .string((principal == .user ? held.user?.name : nil) ?? client)
        claims["iat"] = .integer(seconds)
        claims["exp"] = .integer(seconds + lifetime)
        claims["nbf"] = notBefore.map(JSON.integer)
        claims["jti"] = .string(try Random.uuid())
        claims["content"] = content.value
        claims["content-type"] = .string(content.mediaType)
        let token = try JWS.sign(JSON.object(claims).bytes, algorithm: algorithm, key: .key(key))
        let (body, type) = wrapping.body(of: token)
        request.body = body
        request.headers.set("Content-Type", type)
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
