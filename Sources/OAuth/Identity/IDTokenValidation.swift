import Cryptography
import FoundationEssentials
import Groundwork
import HTTPClient

/// The checks on an id_token (OpenID Connect Core section 3.1.3.7). Pure.
///
/// Every check is made, whatever the signature algorithm, unless the caller switches that of the signature off; no
/// clock skew is allowed.
public struct IDTokenValidation: Sendable {
    /// Key of HS256 signatures.
    let secret: SecretBytes
    /// Requirements on the claims, in the order in which they are checked; the expiry is checked after them.
    let rules: [ClaimRule]
    let now: Date
    /// Whether a key has to prove the token. Without, anybody on the way could have made it; its claims are checked
    /// all the same.
    public var verifiesSignature = true
    /// The accepted signatures.
    private let algorithms: Set<JWS.Algorithm>

    /// Validates a token that was issued to this client.
    ///
    /// - Parameters:
    ///   - rules: requirements of the server's protocol beside the client's id in `aud`.
    ///   - algorithms: the signatures that the server may use.
    public init(
        client: ClientAuthentication, rules: [ClaimRule] = [], now: Date, algorithms: Set<JWS.Algorithm>
    ) {
        secret = client.secret
        self.rules = [.audience(client.id)] + rules
        self.now = now
        self.algorithms = algorithms
    }

    /// The id of the published key that is needed, or `nil` if none is.
    /// - Parameter algorithms: the signatures that the server may use.
    /// - Throws: an ``IDTokenFault`` that no key would cure.
    public static func neededKey(_ compact: String, algorithms: Set<JWS.Algorithm>) throws(IDTokenFault) -> String? {
        let token = try parse(compact, algorithms)
        guard token.algorithm != .HS256 else { return nil }
        guard let id = token.keyID, !id.isEmpty else { throw .malformed }
        return id
    }

    /// - Parameter keys: the server's published keys, if they are needed.
    /// - Returns: when the token expires.
    public func validate(_ compact: String, keys: KeySet?) throws(IDTokenFault) -> Date {
        let token = try Self.parse(compact, algorithms)
        guard verifiesSignature else { return try checkClaims(token.payload) }
        let candidates: [JWS.VerificationKey] =
            token.algorithm == .HS256
            ? [.hmac(secret)] : (keys?.candidates(of: token.keyID) ?? []).map(JWS.VerificationKey.key)
        // A key of another kind than the algorithm's verifies nothing.
        guard candidates.contains(where: { (try? token.verify(with: $0)) != nil }) else { throw .signatureInvalid }
        return try checkClaims(token.payload)
    }

    private static func parse(_ compact: String, _ algorithms: Set<JWS.Algorithm>) throws(IDTokenFault) -> JWS.Token {
        let token: JWS.Token
        do {
            token = try JWS.Token(compact: compact)
        } catch .algorithmRefused(let name) {
            throw .algorithmUnsupported(name)
        } catch {
            throw .malformed
        }
        guard algorithms.contains(token.algorithm) else {
            throw .algorithmUnsupported(token.algorithm.rawValue)
        }
        return token
    }

    private func checkClaims(_ payload: [UInt8]) throws(IDTokenFault) -> Date {
        guard let claims = try? JSON(parsing: payload), claims.object != nil else { throw .malformed }
        for rule in rules where !rule.holds(claims[rule.claim]) { throw .claimRefused(rule.claim) }
        guard let end = claims["exp"]?.seconds else { throw .expired }
        let expires = Date(timeIntervalSince1970: end)
        guard expires >= now else { throw .expired }
        return expires
    }
}

/// A requirement on one claim of an id_token.
public struct ClaimRule: Sendable {
    public let claim: String
    let holds: @Sendable (JSON?) -> Bool

    /// - Parameter holds: whether the value of the claim, `nil` if there is none, is as required.
    public init(_ claim: String, _ holds: @escaping @Sendable (JSON?) -> Bool) {
        self.claim = claim
        self.holds = holds
    }

    /// The claim is this text.
    public static func text(_ claim: String, _ expected: String) -> ClaimRule {
        ClaimRule(claim) { $0?.string == expected }
    }

    /// `aud` is this client, or a list with it (OpenID Connect Core section 2).
    static func audience(_ clientID: String) -> ClaimRule {
        ClaimRule("aud") { $0?.string == clientID || $0?.array?.contains(.string(clientID)) == true }
    }
}

/// Why an id_token is not accepted. It quotes nothing of the token but its algorithm.
public enum IDTokenFault: Error, Equatable {
    /// It is not a signed token, has no claims, or does not name the key that signed it.
    case malformed
    /// It is signed by an algorithm that the server may not use.
    case algorithmUnsupported(String)
    case signatureInvalid
    /// `exp` has passed, or is missing.
    case expired
    /// The claim of this name is missing, or not as required.
    case claimRefused(String)
}
