import AgentCore
import Gateway
import Groundwork
import LocalAPI

/// How something is signed, as a request of the local API states it: the member `sign` of a call, or members of the
/// request for a token.
package struct SigningRequest {
    package var signing: BodySigning
    /// The name of a key in the vault; `nil` for the device's own.
    package let key: String?

    /// What a token may have, whether it is sent or not.
    package static var ofToken: [String: Schema] {
        [
            "key": .string("name of a key (latchkey keys); the device's own by default"),
            "claims": Schema.openObject(
                "claims to add or replace, at most \(OwnClaims.limit)"
            ).asSensitive,
            "audience": .string(
                "audience, such as the URL that it is sent to; the gateway's host name by default"),
            "lifetimeSeconds": .integer(
                "how long it is valid; signing.lifetime_seconds by default", in: BodySigning.lifetimes),
            "notBefore": .integer("when it becomes valid, in seconds since 1970", in: 0...Int64.max),
        ]
    }

    private static var ofBody: [String: Schema] {
        ofToken.merging([
            "wrap": .string(
                "what is sent: the token, or a JSON object or form with it as jwt",
                choices: BodySigning.Wrapping.allCases.map(\.rawValue))
        ]) { own, _ in own }
    }

    package static var member: Schema {
        .any(
            of: [
                .boolean("true: with the device's key and the usual claims"),
                .object(ofBody, required: []),
            ], "whether and how the body is sent as a signed token (JWS)")
    }

    /// - Returns: `nil` if the body is not to be signed.
    /// - Throws: ``AgentError/badRequest(member:fault:)``, `GatewayError.unsignable`
    package init?(_ json: JSON?) throws {
        switch json {
        case nil, .null, .bool(false): return nil
        case .bool(true): self = try SigningRequest(RequestBody(json: [:]))
        case .object?:
            let body = RequestBody(json: json ?? [:])
            let wrap = try body.optionalString("wrap") ?? BodySigning.Wrapping.plain.rawValue
            guard let wrapping = BodySigning.Wrapping(rawValue: wrap) else {
                throw AgentError.badRequest(
                    member: "wrap",
                    fault: "is not one of \(BodySigning.Wrapping.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            self = try SigningRequest(body, wrapping: wrapping)
        default: throw AgentError.badRequest(member: "sign", fault: "is neither true or false nor an object")
        }
    }

    /// - Throws: ``AgentError/badRequest(member:fault:)``, `GatewayError.unsignable`
    package init(_ body: RequestBody, wrapping: BodySigning.Wrapping = .plain) throws {
        let claims = body["claims"] ?? .object([:])
        guard let own = claims.object, own.count <= OwnClaims.limit else {
            throw AgentError.badRequest(
                member: "claims", fault: "is not an object of at most \(OwnClaims.limit) members")
        }
        signing = try BodySigning(
            claims: own, audience: try body.optionalString("audience"),
            notBefore: try body.optionalInteger("notBefore", in: 0...Int64.max),
            lifetime: try body.optionalInteger("lifetimeSeconds", in: BodySigning.lifetimes), wrapping: wrapping)
        key = try body.optionalString("key")
    }
}
