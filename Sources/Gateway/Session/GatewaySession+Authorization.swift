import Cryptography
import FoundationEssentials
import Groundwork
import HTTPClient
import OAuth

/// Log-in by somebody else's device, from both sides (MAG 5.6, 7.1, 7.3).
extension GatewaySession {
    /// A new authorization session, E3: as long as it lives, who authorizes it logs in on this board.
    ///
    /// A board that waits for a person may have one too: the person is there.
    ///
    /// - Throws: ``GatewayError``, what the vault throws, or `CancellationError`.
    public func authorizationSession() async throws -> AuthorizationSession {
        let attempts = Attempts(limit: Recovery.attempts)
        while true {
            _ = attempts.take()
            try await operations.join(.initialize) { try await self.initializeClientWhenDue() }
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
        let authorization = AuthorizationRequest(
            clientID: client.id,
            scope: GatewayScope.authorization(
                configured: configuration.scope, singleSignOn: configuration.singleSignOn,
                registers: configuration.singleSignOn && held.device == nil),
            redirectURI: configuration.redirectURI, proof: proof, additional: [("display", "social_login")])
        let request = try await request(
            "GET", .authorize, query: "?" + authorization.query.text, headers: ["Accept": "application/json"])
        let response = try await succeed(request, for: .beginAuthorization)
        do {
            return try AuthorizationAnswer.session(response.body, proof: proof, clientID: client.id)
        } catch {
            throw GatewayError.unexpectedAnswer(.beginAuthorization, status: 200, reason: error.reason)
        }
    }

    /// Asks once whether another device has authorized the session.
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
            return try AuthorizationAnswer.poll(response.body, proof: session.proof)
        } catch let fault as AnswerFault {
            throw GatewayError.unexpectedAnswer(.pollAuthorization, status: 200, reason: fault.reason)
        }
    }

    /// Verifier and state are of no use with other client credentials, as they are after a removal or a reset (MAG 12.4).
    ///
    /// - Throws: ``GatewayError/authorizationEnded``
    func checkClient(of session: AuthorizationSession) async throws {
        guard try await holdings().client?.id == session.clientID else { throw GatewayError.authorizationEnded }
    }

    // MARK: The other side

    /// Whether a text is a URL of this gateway. Nothing is asked.
    ///
    /// - Parameter text: a URL, or JSON with a `provider_url`.
    /// - Throws: ``GatewayError/providerURLInvalid(reason:)``, ``GatewayError/providerURLForeign(gateway:)``
    public nonisolated func checkOrigin(of text: String) throws(GatewayError) {
        _ = try ProviderURL(text, at: configuration.identity)
    }

    /// What names the authorization session that ``authorize(providerURL:loggedInAt:)`` would authorize: the same for every
    /// spelling of its URL.
    ///
    /// Authorization URLs have no place of their own that a client could know (MAG 7.3), and the gateway has many others, at
    /// which a call in the user's name would do something else. So a stranger's URL has to look like one that the gateway gave
    /// to this board, which asks for one where it has none yet, or an old one that this does not look like.
    ///
    /// - Throws: as ``checkOrigin(of:)`` and ``authorizationSession()`` do; ``GatewayError/proximityNotOffered``
    public func sessionIdentifier(in text: String) async throws -> String { try await approved(text).session }

    private func approved(_ text: String) async throws -> (path: String, session: String) {
        let url = try ProviderURL(text, at: configuration.identity)
        if let session = try await form(mayBeOld: true).identifier(in: url) { return (url.path, session) }
        // The gateway may have been updated.
        guard let session = try await form(mayBeOld: false).identifier(in: url) else {
            throw GatewayError.providerURLInvalid(reason: "it is not how this gateway names a log-in that waits")
        }
        return (url.path, session)
    }

    private func form(mayBeOld: Bool) async throws -> ProviderForm {
        if let known = providerForm, mayBeOld || uptime() - known.at < Self.providerFormLife { return known.form }
        guard let own = try await authorizationSession().proximity else { throw GatewayError.proximityNotOffered }
        let form = try ProviderForm(of: own.authURL, at: configuration.identity)
        providerForm = (form, uptime())
        return form
    }

    /// URLs that do not fit make the board ask the gateway no more often than this.
    private static var providerFormLife: Duration { .seconds(3600) }

    /// Lets another device log in as the user of this one, after the user has agreed (MAG 7.3). It has to be a URL by which this
    /// gateway authorizes devices, and only a user's token is ever used for it (MAG checklist 36).
    ///
    /// - Parameters:
    ///   - providerURL: as the other device gave it: a URL, or JSON with a `provider_url`.
    ///   - date: of the log-in of the user who has agreed; `nil` for whoever is logged in.
    /// - Throws: ``GatewayError``; ``GatewayError/userRequired`` when nobody is logged in, or somebody else by now.
    public func authorize(providerURL: String, loggedInAt date: Date? = nil) async throws {
        try checkOrigin(of: providerURL)
        let logIn = try await requireUser(loggedInAt: date).loggedInAt
        let path = try await approved(providerURL).path
        var response = try await call(
            method: "POST", path: path, headers: ["Content-Type": FormBody.contentType, "Accept": "text/plain"],
            body: [],
            as: .user, loggedInAt: logIn)
        if response.status == 405 {
            response = try await call(
                method: "GET", path: path, headers: ["Accept": "text/plain"], as: .user, loggedInAt: logIn)
        }
        guard response.isSuccess else { throw GatewayError.failure(response, .authorizeDevice) }
    }
}
