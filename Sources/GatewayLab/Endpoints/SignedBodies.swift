import Cryptography
import Foundation
import Groundwork

/// `POST /lab/signed`: an API whose callers have to sign what they send (MAG 6.7).
extension GatewayCore {
    /// How far a client's clock may be wrong, in seconds.
    private static let allowance: Int64 = 60

    /// Checks the signature by the key of the device's certificate, and every claim, and answers what it saw. `?key=`
    /// names another public key (SubjectPublicKeyInfo in base64 for URLs), `?audience=` another audience.
    ///
    /// - Throws: a fault ending in 306 for a token that is not valid, in 308 for one that was seen before.
    mutating func signed(_ request: WireRequest, now: Date) throws -> WireResponse {
        let token = try bearer(of: request, at: .signed, scope: nil, now: now)
        let device = try device(of: request, at: .signed, missing: 107, now: now)
        let query = Parameters(query: request.query)
        let given = query?["key"].flatMap { Base64.decode($0, alphabet: .urlSafe) }
        let own = try request.certificate.map { try Certificate(der: $0).publicKey.spki } ?? device.publicKey
        let (header, claims) = try Self.verified(
            Self.compact(in: request), by: try PublicKey(spki: given ?? own))
        func text(_ name: String) throws -> String {
            guard let text = claims[name]?.string, !text.isEmpty else { throw Self.invalid("\(name) is missing") }
            return text
        }
        guard try text("iss") == "device://\(device.magIdentifier)/\(token.clientID)" else {
            throw Self.invalid("iss is not this device and client")
        }
        guard try text("aud") == query?["audience"] ?? configuration.host else {
            throw Self.invalid("aud is another party")
        }
        guard try text("sub") == token.user ?? token.clientID else { throw Self.invalid("sub is not who calls") }
        guard let issued = claims["iat"]?.integer, let end = claims["exp"]?.integer, issued < end,
            issued <= now.epochSeconds + Self.allowance, end > now.epochSeconds - Self.allowance,
            claims["nbf"] == nil || claims["nbf"]?.integer.map({ $0 <= now.epochSeconds + Self.allowance }) == true
        else { throw Self.invalid("it is not valid now") }
        let mediaType = try text("content-type")
        guard let content = claims["content"] else { throw Self.invalid("content is missing") }
        let jti = try text("jti")
        seenSignatures = seenSignatures.filter { $0.value > now }
        guard seenSignatures.updateValue(now + TimeInterval(end - issued + 2 * Self.allowance), forKey: jti) == nil
        else {
            throw GatewayFault(Endpoint.signed.errorPrefix + 308, "invalid_request", "The JWT was used before")
        }
        return .json([
            "header": header, "claims": claims, "content": content, "contentType": .string(mediaType),
            "sentAs": .string(request.header("content-type") ?? ""),
            "signer": given == nil ? "device" : "given", "lifetime": .integer(end - issued),
            "jwt": .string(try Self.compact(in: request)),
        ])
    }

    /// The token in any of the forms in which it is sent.
    private static func compact(in request: WireRequest) throws -> String {
        let text = String(decoding: request.body, as: UTF8.self)
        switch request.header("content-type")?.lowercased() {
        case "text/plain": return text
        case "application/json":
            if let token = (try? JSON(parsing: request.body))?["jwt"]?.string { return token }
        case "application/x-www-form-urlencoded": if let token = Parameters(form: request.body)?["jwt"] { return token }
        default: break
        }
        throw invalid("the body contains none")
    }

    private static func verified(
        _ compact: String, by key: PublicKey
    ) throws -> (header: JSON, claims: JSON) {
        let parts = compact.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let decoded = parts.compactMap { Base64.decode($0, alphabet: .urlSafe) }
        guard parts.count == 3, decoded.count == 3, !compact.contains("="), let header = try? JSON(parsing: decoded[0]),
            let claims = try? JSON(parsing: decoded[1]), claims.object != nil
        else { throw invalid("it is not a JWS of JSON") }
        guard header == ["alg": "RS256"] else { throw invalid("its header is not that of a device") }
        let message = Array((parts[0] + "." + parts[1]).utf8)
        guard try key.verifies(decoded[2], of: message) else { throw invalid("its signature is not valid") }
        return (header, claims)
    }

    private static func invalid(_ reason: String) -> GatewayFault {
        GatewayFault(Endpoint.signed.errorPrefix + 306, "invalid_request", "The JWT is not valid: \(reason)")
    }
}
