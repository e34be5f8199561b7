import Gateway
import Groundwork
import LocalAPI

/// The member `sign` of a call: `true`, or how the body is signed.
struct SigningRequest {
    let signing: BodySigning
    /// The name of a key in the vault; `nil` for the device's own.
    let key: String?
    /// In seconds; `nil` for that of the settings.
    let lifetime: Int64?

    static var member: Schema {
        .any(
            of: [
                .boolean("true: by the device's key, with the claims that every signature has"),
                .object(
                    [
                        "key": .string("name of a key (latchkey keys); the device's own unless given"),
                        "claims": Schema.openObject("more claims, at most \(BodySigning.claimLimit)").asSensitive,
                        "audience": .string("whom it is for; the gateway's host name unless given"),
                        "lifetimeSeconds": .integer(
                            "for how long it is valid; signing.lifetime_seconds unless given", in: BodySigning.lifetimes
                        ),
                        "notBefore": .integer("from when it is valid, in seconds since 1970", in: 0...Int64.max),
                        "wrap": .string(
                            "what is sent: the token, or a JSON object or form with it as jwt",
                            choices: BodySigning.Wrapping.allCases.map(\.rawValue)),
                    ], required: []),
            ], "whether and how the body is sent as a signed token (JWS) in place of itself")
    }

    private static let members: Set = ["key", "claims", "audience", "lifetimeSeconds", "notBefore", "wrap"]

    /// - Returns: `nil` if the body is not to be signed.
    /// - Throws: ``AgentError/badRequest(member:fault:)``, `GatewayError.unsignable`
    init?(_ json: JSON?) throws {
        switch json {
        case nil, .null, .bool(false): return nil
        case .bool(true): self = SigningRequest(signing: try BodySigning(), key: nil, lifetime: nil)
        case .object(let members)?:
            let body = try RequestBody(JSON.object(members).bytes, knowing: Self.members)
            let claims = body["claims"] ?? .object([:])
            guard let own = claims.object, own.count <= BodySigning.claimLimit else {
                throw AgentError.badRequest(
                    member: "claims", fault: "is not an object of at most \(BodySigning.claimLimit) members")
            }
            let wrap = try body.optionalString("wrap") ?? BodySigning.Wrapping.plain.rawValue
            guard let wrapping = BodySigning.Wrapping(rawValue: wrap) else {
                throw AgentError.badRequest(
                    member: "wrap",
                    fault: "is none of \(BodySigning.Wrapping.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            self = SigningRequest(
                signing: try BodySigning(
                    claims: own, audience: try body.optionalString("audience"),
                    notBefore: try body.optionalInteger("notBefore", in: 0...Int64.max), wrapping: wrapping),
                key: try body.optionalString("key"),
                lifetime: try body.optionalInteger("lifetimeSeconds", in: BodySigning.lifetimes))
        default: throw AgentError.badRequest(member: "sign", fault: "is neither true or false nor an object")
        }
    }

    private init(signing: BodySigning, key: String?, lifetime: Int64?) {
        (self.signing, self.key, self.lifetime) = (signing, key, lifetime)
    }
}
