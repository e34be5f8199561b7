import Cryptography
import Groundwork
import HTTPClient

/// Log-in by somebody else's device, from both sides (gateway protocol 5.6, 7.1, 7.3).
extension GatewaySession {
    /// A new authorization session, E3: as long as it lives, who authorises it logs in on this board.
    ///
    /// A board that waits for a person may have one too: the person is there.
    ///
    /// - Throws: ``GatewayError``, what the vault throws, or `CancellationError`.
    public func authorizationSession() async throws -> AuthorizationSession {
        let attempts = Attempts()
        while true {
            _ = attempts.take()
            try await flights.join(.initialize) { try await self.initializeClientWhenDue() }
            let used = revision
            do {
                return try await requestAuthorization()
            } catch GatewayError.refused(let refusal) {
                let held = try await holdings()
                let recovery = Recovery.from(refusal, isStaticClient: held.client?.isStatic ?? false)
                guard let recovery, recovery != .renewCertificate || held.device != nil, !attempts.isSpent else {
                    throw GatewayError.refused(refusal)
                }
                try await recover(recovery, as: .board, since: used)
            }
        }
    }

    private func requestAuthorization() async throws -> AuthorizationSession {
        let held = try await holdings()
        guard let client = held.client else { throw GatewayError.noGrantApplies }
        let proof = try ProofKey()
        var query = FormBody([
            ("client_id", client.id), ("response_type", "code"), ("display", "social_login"),
            ("scope", Scope.authorization(
                configured: configuration.scope, singleSignOn: configuration.singleSignOn,
                registers: configuration.singleSignOn && held.device == nil)),
            ("code_challenge", proof.challenge), ("code_challenge_method", ProofKey.method),
            ("state", proof.state.exposedText()),
        ])
        if let redirectURI = configuration.redirectURI { query.add("redirect_uri", redirectURI) }
        let request = try await request(
            "GET", .authorize, query: "?" + query.text, headers: ["Accept": "application/json"])
        let response = try await succeed(request, for: .beginAuthorization)
        do {
            return try AuthorizationAnswer.session(response.body, proof: proof, clientID: client.id)
        } catch {
            throw GatewayError.unexpectedAnswer(.beginAuthorization, status: 200, reason: error.reason)
        }
    }

    /// Asks once whether another device has authorised the session.
    ///
    /// - Throws: ``GatewayError``: ``GatewayError/proximityNotOffered``, ``GatewayError/authorizationEnded``,
    ///   ``GatewayError/authorizationStateMismatch``, and what the gateway says when the session is over.
    public func poll(_ session: AuthorizationSession) async throws -> PollAnswer {
        guard let address = session.proximity?.pollURL else { throw GatewayError.proximityNotOffered }
        try await checkClient(of: session)
        let request = try await request(
            "GET", at: address, headers: ["Content-Type": FormBody.contentType, "Accept": "application/json"])
        var response = try await succeed(request, for: .pollAuthorization)
        defer { wipe(&response.body) }
        do {
            return try AuthorizationAnswer.poll(response.body, state: session.proof.state)
        } catch let fault as AnswerFault {
            throw GatewayError.unexpectedAnswer(.pollAuthorization, status: 200, reason: fault.reason)
        }
    }

    /// Verifier and state are of no use with other client credentials, as they are after a removal or a reset (12.4).
    ///
    /// - Throws: ``GatewayError/authorizationEnded``
    func checkClient(of session: AuthorizationSession) async throws {
        guard try await holdings().client?.id == session.clientID else { throw GatewayError.authorizationEnded }
    }

    // MARK: The other side

    /// Whether ``authorize(providerURL:)`` would call this.
    ///
    /// - Parameter text: a URL, or JSON with a `provider_url`.
    /// - Throws: ``GatewayError/providerURLInvalid(reason:)``, ``GatewayError/providerURLForeign(gateway:)``
    public nonisolated func checkOrigin(of text: String) throws(GatewayError) { _ = try approved(text) }

    private nonisolated func approved(_ text: String) throws(GatewayError) -> ProviderURL {
        let url = try ProviderURL(text, at: configuration.identity)
        // At the gateway's other interfaces the call would do something else in the user's name.
        for endpoint in GatewayEndpoint.allCases where endpoint != .authorize {
            let path = configuration.endpoints[endpoint] ?? endpoint.defaultPath
            guard url.pathAlone != path, !url.pathAlone.hasPrefix(path + "/") else {
                throw .providerURLInvalid(reason: "it is another interface of the gateway")
            }
        }
        return url
    }

    /// Lets another device log in as the user of this one, after the user has agreed (7.3). Its origin is checked first, and
    /// only a user's token is ever used for it (checklist 36).
    ///
    /// - Parameter providerURL: as the other device gave it: a URL, or JSON with a `provider_url`.
    /// - Throws: ``GatewayError``; ``GatewayError/userRequired`` when nobody is logged in.
    public func authorize(providerURL: String) async throws {
        let url = try approved(providerURL)
        try await requireUser()
        var response = try await call(
            method: "POST", path: url.path, headers: ["Content-Type": FormBody.contentType, "Accept": "text/plain"], body: [],
            as: .user)
        if response.status == 405 {
            response = try await call(method: "GET", path: url.path, headers: ["Accept": "text/plain"], as: .user)
        }
        guard response.isSuccess else { throw GatewayError.failure(response, .authorizeDevice) }
    }
}
