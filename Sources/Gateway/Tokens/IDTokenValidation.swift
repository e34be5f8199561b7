import Cryptography
import FoundationEssentials
import Groundwork
import HTTPClient

/// The checks on an id_token (gateway protocol 5.5, checklist 22). Pure.
///
/// Every check is made, whatever signature algorithm it has, and there is no allowance for clock skew.
struct IDTokenValidation {
    let clientID: String
    /// Key of HS256 signatures.
    let clientSecret: SecretBytes
    let magIdentifier: String
    let now: Date

    /// The id of the published key that is needed, or `nil` when none is.
    /// - Throws: the fault that makes the key pointless.
    static func neededKey(_ compact: String) throws(GatewayError) -> String? {
        let token = try parse(compact)
        guard token.algorithm == .RS256 else { return nil }
        guard let id = token.keyID, !id.isEmpty else { throw .idTokenMalformed }
        return id
    }

    /// - Parameter keys: the gateway's published keys, where they are needed.
    /// - Returns: when the token ends.
    func validate(_ compact: String, keys: KeySet?) throws(GatewayError) -> Date {
        let token = try Self.parse(compact)
        let key: JWS.VerificationKey
        switch token.algorithm {
        case .HS256: key = .hmac(clientSecret)
        case .RS256:
            guard let published = token.keyID.flatMap({ keys?[$0] }) else { throw .idTokenSignatureInvalid }
            key = .key(published)
        default: throw .idTokenAlgorithmUnsupported
        }
        do {
            try token.verify(with: key)
        } catch {
            throw .idTokenSignatureInvalid
        }
        return try checkClaims(token.payload)
    }

    private static func parse(_ compact: String) throws(GatewayError) -> JWS.Token {
        let token: JWS.Token
        do {
            token = try JWS.Token(compact: compact)
        } catch .algorithmRefused {
            throw .idTokenAlgorithmUnsupported
        } catch {
            throw .idTokenMalformed
        }
        guard token.algorithm == .RS256 || token.algorithm == .HS256 else { throw .idTokenAlgorithmUnsupported }
        return token
    }

    private func checkClaims(_ payload: [UInt8]) throws(GatewayError) -> Date {
        guard let claims = try? JSON(parsing: payload), claims.object != nil else { throw .idTokenMalformed }
        let isForClient =
            claims["aud"]?.string == clientID
            || claims["aud"]?.array?.contains(.string(clientID)) == true
        guard isForClient else { throw .idTokenForOtherClient }
        guard claims["azp"]?.string == magIdentifier else { throw .idTokenForOtherDevice }
        guard let end = claims["exp"]?.seconds else { throw .idTokenExpired }
        let expires = Date(timeIntervalSince1970: end)
        guard expires >= now else { throw .idTokenExpired }
        return expires
    }
}
