import Cryptography
import FoundationEssentials
import Groundwork
import HTTPClient
import OAuth

/// id_tokens, and what the server tells of users and tokens.
extension OAuthAccount {
    /// The claims of an answer's id_token, all checked (OpenID Connect Core section 3.1.3.7).
    ///
    /// - Returns: `nil` if there is none, which a login with a nonce must have.
    func idClaims(_ answer: TokenAnswer, nonce: SecretBytes?) async throws -> JSON? {
        guard let token = answer.idToken?.exposedText() else {
            guard nonce == nil else { throw OAuthAccountError.idTokenInvalid(reason: "there is none") }
            return nil
        }
        // Without an issuer nothing of it could be checked, so nothing of it is used. One that was not asked for does
        // not end a login where there are no keys.
        guard let issuer = server.issuer, nonce != nil || server.isOpenID || server.endpoints[.keys] != nil else {
            return nil
        }
        do {
            try await check(token, issuer, answer, nonce)
        } catch let fault as IDTokenFault {
            if case .algorithmUnsupported(let name) = fault {
                throw OAuthAccountError.idTokenUnsupported(algorithms: [name])
            }
            let told = ["iss": issuer, "aud": server.clientID, "azp": server.clientID]
            throw OAuthAccountError.idTokenInvalid(reason: fault.reason(of: token, told))
        }
        return JWS.claims(of: token)
    }

    private func check(_ token: String, _ issuer: String, _ answer: TokenAnswer, _ nonce: SecretBytes?) async throws {
        let client = ClientAuthentication(
            id: server.clientID, secret: server.secret ?? SecretBytes([]), expires: nil)
        let algorithm = (try? JWS.Token(compact: token))?.algorithm
        let validation = IDTokenValidation(
            client: client,
            rules: ClaimRule.openID(
                issuer: issuer, clientID: server.clientID, nonce: nonce, accessToken: answer.accessToken,
                algorithm: algorithm ?? .RS256),
            now: clock(), algorithms: server.idTokenAlgorithms)
        let needsKey = algorithm.map { JWS.Algorithm.ofPublicKeys.contains($0) } ?? false
        if needsKey, keySet == nil { keySet = try await loadKeys() }
        guard let first = Self.fault(of: token, validation, keySet) else { return }
        // The server may have changed its keys since they were read.
        guard first == .signatureInvalid, needsKey else { throw first }
        keySet = try await loadKeys()
        if let second = Self.fault(of: token, validation, keySet) { throw second }
    }

    private static func fault(of token: String, _ validation: IDTokenValidation, _ keys: KeySet?) -> IDTokenFault? {
        do {
            _ = try validation.validate(token, keys: keys)
            return nil
        } catch {
            return error
        }
    }

    private func loadKeys() async throws -> KeySet {
        let endpoint = Self.name(.keys)
        let response = try await get(try address(of: .keys), endpoint)
        return try Self.read(endpoint) { () throws(AnswerFault) in try KeySet(response.body) }
    }

    private func get(_ address: String, _ endpoint: String, token: SecretBytes? = nil) async throws -> HTTPResponse {
        var request = try Self.request("GET", address, server, judgedAt: clock)
        request.headers.set("Accept", "application/json")
        if let token { request.headers.set("Authorization", "Bearer \(token.exposedText())") }
        let response = try await Self.send(request, by: client, to: endpoint)
        guard response.status == 200 else { throw Self.failure(response, of: endpoint) }
        return response
    }

    /// What the server tells of the user (OpenID Connect Core section 5.3).
    public func userInfo() async throws -> JSON {
        let endpoint = Self.name(.userInfo)
        let address = try address(of: .userInfo)
        let token = try await token(scope: Scope.words(server.scope).contains("openid") ? "openid" : nil)
        let response = try await get(address, endpoint, token: token.value)
        let info = try Self.read(endpoint) { () throws(AnswerFault) in try JSONAnswer(response.body).json }
        if let subject = holding.user?.subject, info["sub"]?.string != subject { throw OAuthAccountError.userMismatch }
        return info
    }

    /// What the server says of the token for a scope (RFC 7662 section 2.2).
    public func introspect(scope: String? = nil) async throws -> JSON {
        let endpoint = Self.name(.introspection)
        _ = try address(of: .introspection)
        let token = try await token(scope: scope)
        let response = try await post(
            .introspection, FormBody([("token_type_hint", "access_token")]), [("token", token.value)])
        guard response.status == 200 else { throw Self.failure(response, of: endpoint) }
        let answer = try Self.read(endpoint) { () throws(AnswerFault) in try JSONAnswer(response.body).json }
        guard answer["active"]?.bool != nil else {
            throw OAuthAccountError.answerInvalid(endpoint: endpoint, reason: "it does not say whether it is active")
        }
        return answer
    }
}
