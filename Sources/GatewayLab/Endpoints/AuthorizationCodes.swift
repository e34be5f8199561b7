import Cryptography
import Foundation
import Groundwork

/// The use of an authorization code (MAG 5.6): for a registration at E4 or tokens at E8, once.
extension GatewayCore {
    /// A code with the values that prove its owner.
    struct CodeProof {
        var code: String
        var redirectURI: String?
        var verifier: String?
    }

    /// The scope of a code that is only for registration (MAG 7.2).
    private static let registrationScope = "msso_register"

    /// E4. The code must have been obtained with `msso_register`.
    /// - Returns: the user behind it.
    mutating func redeemForRegistration(_ proof: CodeProof, client: ClientInstance, now: Date) throws -> String {
        let (session, code) = try redeem(proof, client: client, at: .registration, now: now)
        guard session.scopes.contains(Self.registrationScope) else {
            throw Self.invalid("The code was obtained without the scope msso_register", at: .registration)
        }
        return code.user
    }

    /// E8, `authorization_code`.
    mutating func authorizationCode(_ request: TokenRequest) throws -> Granted {
        guard let value = request.form["code"] else {
            throw GatewayFault(Endpoint.token.errorPrefix + 103, "invalid_request", "code is missing")
        }
        let proof = CodeProof(
            code: value, redirectURI: request.form["redirect_uri"], verifier: request.form["code_verifier"])
        let (session, code) = try redeem(proof, client: request.client, at: .token, now: request.now)
        guard !session.scopes.contains(Self.registrationScope) else {
            throw Self.invalid("The code was obtained with the scope msso_register: it is for registration", at: .token)
        }
        guard session.magIdentifier == nil || session.magIdentifier == request.device.magIdentifier else {
            throw Self.invalid("The code was obtained by another device", at: .token)
        }
        let asked = request.form["scope"].map { Set($0.split(separator: " ").map(String.init)) }
        let scopes = session.scopes.filter { asked?.contains($0) ?? true }
        guard !scopes.isEmpty else {
            throw GatewayFault(
                Endpoint.token.errorPrefix + 115, "invalid_scope", "The code was obtained for none of these scopes")
        }
        return Granted(
            user: code.user, scopes: scopes, family: session.id, refreshes: true, opensSession: true)
    }

    /// Uses a code up, even if a later check fails, unless another client presents it.
    ///
    /// A code that is used a second time may have been stolen, so its tokens are revoked (RFC 6749 section 4.1.2).
    /// - Throws: a fault ending in 103 without a redirect_uri, otherwise in 113.
    private mutating func redeem(_ proof: CodeProof, client: ClientInstance, at endpoint: Endpoint, now: Date) throws
        -> (Authorization, AuthorizationCode)
    {
        guard let session = authorizations.values.first(where: { $0.code?.value == proof.code }),
            let code = session.code, [client.clientID, client.master].contains(session.clientID)
        else { throw Self.invalid("The authorization code is unknown", at: endpoint) }
        guard case .authorized = session.progress else {
            state.accessTokens = state.accessTokens.filter { $0.value.family != session.id }
            state.refreshTokens = state.refreshTokens.filter { $0.value.family != session.id }
            throw Self.invalid("The authorization code has been used", at: endpoint)
        }
        guard let redirectURI = proof.redirectURI else {
            throw GatewayFault(endpoint.errorPrefix + 103, "invalid_request", "The redirect_uri is missing")
        }
        authorizations[session.id]?.progress = .used(code)
        guard code.expiresAt > now else { throw Self.invalid("The authorization code has expired", at: endpoint) }
        guard redirectURI == session.redirectURI else {
            throw Self.invalid("redirect_uri does not match that of the authorization request", at: endpoint)
        }
        guard Self.matches(proof.verifier, session.challenge) else {
            throw Self.invalid("The code_verifier does not match the code_challenge", at: endpoint)
        }
        return (session, code)
    }

    /// RFC 7636 section 4.6. A verifier without a challenge does not match either: the challenge may have been
    /// removed on the way.
    private static func matches(_ verifier: String?, _ challenge: [UInt8]?) -> Bool {
        guard let challenge else { return verifier == nil }
        guard let verifier, (43...256).contains(verifier.utf8.count) else { return false }
        return equalInConstantTime(SHA256.hash(Array(verifier.utf8)), challenge)
    }

    private static func invalid(_ text: String, at endpoint: Endpoint) -> GatewayFault {
        GatewayFault(endpoint.errorPrefix + 113, "invalid_grant", text)
    }
}
