import Cryptography
import FoundationEssentials
import Groundwork
import HTTPClient
import OAuth

/// A login that goes on in a browser, on another machine or on this one.
struct BegunLogin {
    let id: String
    /// Where the server leads the browser at the end.
    let redirectURI: String
    let proof: ProofKey
    let nonce: SecretBytes
    let scope: String
}

/// Obtaining the first token, by each grant.
extension OAuthAccount {
    private static let begunLimit = 4

    /// - Throws: ``OAuthAccountError/wrongGrant(account:grant:)``
    private func check(_ grants: ServerConfiguration.Grant...) throws(OAuthAccountError) {
        guard grants.contains(server.grant) else { throw .wrongGrant(account: name, grant: server.grant.rawValue) }
    }

    /// Logs in by user name and password (RFC 6749 section 4.3).
    public func logIn(userName: String, password: SecretBytes, scope: String? = nil) async throws -> AccountUser {
        try check(.password)
        return try await logIn(
            PasswordGrant(userName: userName, password: password, scope: scope ?? server.scope), userName: userName)
    }

    /// Logs in with an assertion that another program made (RFC 7521): a JWT, or the XML of a SAML 2.0 assertion.
    public func logIn(assertion: SecretBytes, scope: String? = nil) async throws -> AccountUser {
        try check(.jwtBearer, .saml2Bearer)
        let scope = scope ?? server.scope
        guard server.grant == .saml2Bearer else {
            return try await logIn(
                AssertionGrant(type: HeldIDToken.jwtBearer, assertion: assertion, scope: scope))
        }
        var xml = assertion.exposed()
        defer { wipe(&xml) }
        // Without padding or line breaks (RFC 7522 section 2.1).
        let encoded = SecretBytes(utf8: Base64.encode(xml, alphabet: .urlSafe, padded: false))
        return try await logIn(
            AssertionGrant(
                type: "urn:ietf:params:oauth:grant-type:saml2-bearer", assertion: encoded, scope: scope))
    }

    private func logIn(_ grant: any OAuth.Grant, userName: String? = nil) async throws -> AccountUser {
        try await change { account in
            let answer = try await account.request(grant.request)
            try await account.accept(answer, requested: grant.request.scope, userName: userName, nonce: nil)
        }
        return try loggedIn()
    }

    private func loggedIn() throws(OAuthAccountError) -> AccountUser {
        guard let user = holding.user else { throw .loginRequired(account: name) }
        return user
    }

    /// Keeps the tokens of a login, once its id_token was checked. Must run in a change.
    private func accept(
        _ answer: TokenAnswer, requested: String?, userName: String?, nonce: SecretBytes?
    ) async throws {
        let claims = try await idClaims(answer, nonce: nonce)
        let name = claims?["preferred_username"]?.string ?? userName ?? claims?["email"]?.string
        let user = AccountUser(
            name: name.map { DisplayText.oneLine($0, limit: 256) }, subject: claims?["sub"]?.string,
            loggedInAt: clock())
        try await add(answer, requested: requested, user: user)
    }

    // MARK: With a browser

    /// Begins a login whose answer comes back in an address (RFC 6749 sections 4.1 and 4.2).
    ///
    /// - Parameter loopbackPort: where a program of this machine waits for the browser (RFC 8252 section 7.3). Used
    ///   where the redirect URI is on the loopback interface and has no port; not for the implicit grant, whose answer
    ///   a browser never sends.
    /// - Returns: the address to open in a browser, and the one at which it ends.
    public func beginBrowser(
        scope: String? = nil, loopbackPort: UInt16? = nil
    ) throws -> (id: String, url: String, redirectURI: String) {
        try check(.authorizationCode, .implicit)
        let port = server.grant == .implicit ? nil : loopbackPort
        let redirectURI = LoopbackRedirect.address(server.redirectURI, port: port) ?? server.redirectURI
        let proof = try ProofKey()
        let nonce = SecretBytes(utf8: Hex.encode(try Random.bytes(16)))
        let scope = scope ?? server.scope
        let endpoint = try address(of: .authorization)
        let isOpenID = Scope.words(scope).contains("openid")
        var query = FormBody()
        if server.grant == .implicit {
            query = FormBody([
                ("client_id", server.clientID), ("response_type", isOpenID ? "id_token token" : "token"),
                ("redirect_uri", redirectURI), ("state", proof.state.exposedText()),
            ])
            if !scope.isEmpty { query.add("scope", scope) }
        } else {
            query =
                AuthorizationRequest(
                    clientID: server.clientID, scope: scope, redirectURI: redirectURI, proof: proof
                ).query
        }
        if isOpenID { query.add("nonce", nonce.exposedText()) }
        let id = Hex.encode(try Random.bytes(8))
        if begun.count == Self.begunLimit { begun.removeFirst() }
        begun.append(BegunLogin(id: id, redirectURI: redirectURI, proof: proof, nonce: nonce, scope: scope))
        return (id, endpoint + (endpoint.contains("?") ? "&" : "?") + query.text, redirectURI)
    }

    /// Gives up a login that was begun: its answer is not taken any more.
    ///
    /// - Throws: ``OAuthAccountError/noSuchLogin``
    public func cancelBrowser(_ id: String) throws(OAuthAccountError) {
        guard let index = begun.firstIndex(where: { $0.id == id }) else { throw .noSuchLogin }
        begun.remove(at: index)
    }

    /// Logs in with the address at which the browser ended.
    ///
    /// - Throws: ``OAuthAccountError``; an address of another login leaves this one unchanged.
    public func endBrowser(_ id: String, answer address: String) async throws -> AccountUser {
        guard let index = begun.firstIndex(where: { $0.id == id }) else { throw OAuthAccountError.noSuchLogin }
        let logIn = begun[index]
        let nonce = Scope.words(logIn.scope).contains("openid") ? logIn.nonce : nil
        if server.grant == .implicit {
            let (fields, state, issuer) = try Self.redirect { () throws(RedirectFault) in
                try RedirectAnswer.fragment(in: address, redirectURI: logIn.redirectURI) { $0 == logIn.proof.state }
            }
            try check(state, issuer, logIn)
            begun.remove(at: index)
            let answer = try Self.read(Self.name(.authorization)) { () throws(AnswerFault) in
                try TokenAnswer(try JSONAnswer(fields.bytes))
            }
            try await change { account in
                try await account.accept(answer, requested: logIn.scope, userName: nil, nonce: nonce)
            }
        } else {
            let code = try Self.redirect { () throws(RedirectFault) in
                try RedirectAnswer.code(in: address, redirectURI: logIn.redirectURI) { $0 == logIn.proof.state }
            }
            try check(code.state, code.issuer, logIn)
            begun.remove(at: index)
            let grant = AuthorizationCodeGrant(
                code: code.value, verifier: logIn.proof.verifier, redirectURI: logIn.redirectURI, scope: nil)
            try await change { account in
                let answer = try await account.request(grant.request)
                try await account.accept(answer, requested: logIn.scope, userName: nil, nonce: nonce)
            }
        }
        return try loggedIn()
    }

    /// The answer must be of this login, and of this server: another could have mixed in its own (RFC 9207).
    private func check(_ state: SecretBytes, _ issuer: String?, _ logIn: BegunLogin) throws(OAuthAccountError) {
        guard state == logIn.proof.state else { throw .stateMismatch }
        guard let expected = server.issuer else { return }
        guard issuer == expected || issuer == nil && !server.namesIssuerInAnswers else {
            throw .issuerWrong(expected: expected, found: issuer)
        }
    }

    private static func redirect<Value>(
        _ read: () throws(RedirectFault) -> Value
    ) throws(OAuthAccountError) -> Value {
        do {
            return try read()
        } catch {
            guard error != .ofAnotherLogin else { throw .stateMismatch }
            throw .browserAnswerInvalid(reason: error.reason)
        }
    }

    // MARK: With a code that is shown

    /// Asks for a code with which a user can agree elsewhere (RFC 8628 section 3.1).
    public func beginDevice(scope: String? = nil) async throws -> DeviceAuthorization {
        try check(.deviceCode)
        var form = FormBody()
        let scope = scope ?? server.scope
        if !scope.isEmpty { form.add("scope", scope) }
        let endpoint = Self.name(.deviceAuthorization)
        let response = try await post(.deviceAuthorization, form, [])
        guard response.status == 200, OAuthRefusals().refusal(in: response) == nil else {
            throw Self.failure(response, of: endpoint)
        }
        return try Self.read(endpoint) { () throws(AnswerFault) in try DeviceAuthorization(response.body) }
    }

    /// Waits until the user has agreed; canceling the task ends the login.
    ///
    /// - Throws: ``OAuthAccountError/deviceCodeExpired``, ``OAuthAccountError/deviceDenied`` and others.
    public func awaitDevice(_ authorization: DeviceAuthorization, scope: String? = nil) async throws -> AccountUser {
        let end = uptime + .seconds(authorization.lifetime)
        let endpoint = try address(of: .token)
        var polling = DevicePolling(interval: authorization.interval)
        var pause = authorization.interval
        let grant = DeviceCodeGrant(code: authorization.deviceCode)
        while true {
            try await Task.sleep(for: .seconds(pause))
            guard uptime < end else { throw OAuthAccountError.deviceCodeExpired }
            let code: OAuthRefusal.Code?
            let failure: any Error
            do {
                let requested = scope ?? server.scope
                try await change { account in
                    let answer = try await account.request(grant.request)
                    try await account.accept(answer, requested: requested, userName: nil, nonce: nil)
                }
                return try loggedIn()
            } catch let error as OAuthAccountError where error.kind == .temporary {
                (failure, code) = (error, nil)
            } catch OAuthAccountError.refused(let endpoint, let refusal) {
                failure = OAuthAccountError.refused(endpoint: endpoint, refusal)
                // An error that RFC 6749 does not know must not be taken for a failure of the network.
                code = refusal.code ?? .invalidRequest
            } catch let error as HTTPError where error.kind == .unreachable {
                (failure, code) = (error, nil)
            } catch let error as OAuthAccountError where error.kind == .unreachable {
                (failure, code) = (error, nil)
            }
            switch polling.next(after: code) {
            case .wait(let seconds):
                pause = min(max(seconds, client.left(endpoint)), max((end - uptime).inSeconds, 0))
            case .expired: throw OAuthAccountError.deviceCodeExpired
            case .denied: throw OAuthAccountError.deviceDenied
            case .refused: throw failure
            }
        }
    }
}

extension RedirectFault {
    /// Completes a sentence about the address.
    fileprivate var reason: String {
        switch self {
        case .tooLong(let limit): "it is longer than \(limit) bytes"
        case .withoutQuery: "it has no answer of the server"
        case .elsewhere: "the server sends browsers to another address"
        case .unreadable: "its query cannot be read"
        case .withoutCode: "it has no code or token, or no state"
        case .ofAnotherLogin: "it belongs to another login"
        case .refused(let error, let text): "the server said \(text ?? error)"
        }
    }
}
