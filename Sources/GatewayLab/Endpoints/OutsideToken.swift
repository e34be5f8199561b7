import Cryptography
import Foundation
import Groundwork

/// JWTs of an identity provider that the lab trusts, for logins by id_token (MAG 4.3, 5.1; RFC 7523 section 3). The lab
/// plays the provider too, with its own signing key under another issuer.
extension GatewayCore {
    private var outsideIssuer: String { baseURL + "/identity-provider" }

    /// A token for one of the lab's people, which any client may present until it ends.
    func outsideToken(for user: String, now: Date) throws -> String {
        let signer = try authority.signer.identity()
        let claims: JSON = [
            "iss": .string(outsideIssuer), "sub": .string(user), "aud": .string(baseURL),
            "jti": .string(try Random.uuid()), "iat": .integer(now.epochSeconds),
            "exp": .integer(now.epochSeconds + 300),
        ]
        return try JWS.sign(claims.bytes, algorithm: .RS256, key: .key(signer.key), keyID: signer.keyID)
    }

    /// The user of such a token; `nil` for anything else.
    func outsideUser(of compact: String, now: Date) -> String? {
        guard let token = try? JWS.Token(compact: compact), token.algorithm == .RS256,
            let key = try? authority.signer.identity().key.publicKey, (try? token.verify(with: .key(key))) != nil,
            let claims = try? JSON(parsing: token.payload), claims["iss"]?.string == outsideIssuer,
            claims["aud"]?.string == baseURL, let end = claims["exp"]?.integer, end > now.epochSeconds,
            let user = claims["sub"]?.string, configuration.users.contains(where: { $0.name == user })
        else { return nil }
        return user
    }
}
