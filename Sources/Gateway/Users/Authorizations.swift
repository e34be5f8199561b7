import Cryptography
import FoundationEssentials
import Groundwork
import HTTPClient
import OAuth
import Synchronization

/// Login with another person's device, from both sides (MAG 5.6, 7.1, 7.3).
extension GatewaySession {
    /// A new authorization session, from endpoint E3: until it expires, the user who authorizes it logs in on this
    /// board.
    ///
    /// A board that waits for a person may begin one too: the person is present.
    ///
    /// - Parameters:
    ///   - display: whether the gateway lists its providers, or gives the address of its own login page.
    ///   - loopbackPort: where a program of this machine waits for the browser (RFC 8252 section 7.3). Used where the
    ///     configured redirect URI is on the loopback interface and has no port.
    /// - Throws: ``GatewayError``, what the vault throws, or `CancellationError`.
    public func authorizationSession(
        _ display: AuthorizationDisplay = .providers, loopbackPort: UInt16? = nil
    ) async throws -> AuthorizationSession {
        try await requireUnlocked()
        return try await authorizations.begin(display, loopbackPort: loopbackPort)
    }

    /// Asks once whether another device has authorized the session.
    ///
    /// - Throws: ``GatewayError``: ``GatewayError/proximityNotOffered``, ``GatewayError/authorizationEnded``,
    ///   ``GatewayError/authorizationStateMismatch``, and the gateway's refusal when the session is over.
    public func poll(_ session: AuthorizationSession) async throws -> PollAnswer {
        try await authorizations.poll(session)
    }

    /// Checks that a text is a URL of this gateway. Sends no request.
    ///
    /// - Parameter text: a URL, or JSON with a `provider_url`.
    /// - Throws: ``GatewayError/providerURLInvalid(reason:)``, ``GatewayError/providerURLForeign(gateway:)``
    public func checkOrigin(of text: String) throws(GatewayError) {
        _ = try ProviderURL(text, at: configuration.identity)
    }

    /// The identifier of the authorization session that ``authorize(providerURL:loggedInAt:)`` would authorize, the
    /// same for every spelling of its URL. Refuses a URL that does not have the form of those that this gateway gives
    /// to this board.
    ///
    /// - Throws: the errors of ``checkOrigin(of:)`` and ``authorizationSession()``;
    ///   ``GatewayError/proximityNotOffered``
    public func sessionIdentifier(in text: String) async throws -> String {
        try await authorizations.approved(text).session
    }

    /// Lets another device log in as the user of this one, after the user has agreed (MAG 7.3). It must be one of this
    /// gateway's authorization URLs, and only a user's token is ever used for it (MAG checklist 36).
    ///
    /// - Parameters:
    ///   - providerURL: from the other device: a URL, or JSON with a `provider_url`.
    ///   - date: when the user who has agreed logged in; `nil` for the current user.
    /// - Throws: ``GatewayError``; ``GatewayError/userRequired`` when no user or another user is logged in.
    public func authorize(providerURL: String, loggedInAt date: Date? = nil) async throws {
        try await authorizations.authorize(providerURL: providerURL, loggedInAt: date)
    }
}

/// The requests of both sides, and what they have learned of the form of the gateway's URLs.
final class Authorizations: Sendable {
    private let operations: Operations
    private let calls: Calls
    /// The form of the gateway's authorization URLs, and the uptime at which it was learned.
    private let known = Mutex<(form: ProviderForm, at: Duration)?>(nil)

    private var store: HoldingsStore { operations.parts.store }
    private var exchange: GatewayExchange { operations.parts.exchange }
    private var configuration: GatewayConfiguration { store.configuration }

    init(operations: Operations, calls: Calls) {
        self.operations = operations
        self.calls = calls
    }

    // MARK: Logging in on this board

    /// - Parameters:
    ///   - display: what the gateway answers with.
    ///   - loopbackPort: where a program of this machine waits for the browser.
    func begin(
        _ display: AuthorizationDisplay = .providers, loopbackPort: UInt16? = nil
    ) async throws -> AuthorizationSession {
        let redirectURI = LoopbackRedirect.address(configuration.redirectURI, port: loopbackPort)
        return try await operations.recovering(as: .board) {
            try await self.operations.run(.initialize) { parts, operation in
                try await parts.initialization.initializeWhenDue(in: operation)
            }
            let state = try await self.store.state()
            do {
                return try await self.request(display, redirectURI, by: state.holdings)
            } catch GatewayError.refused(let refusal) {
                throw RefusedAttempt(refusal: refusal, revision: state.revision)
            }
        }
    }

    private func request(
        _ display: AuthorizationDisplay, _ redirectURI: String?, by held: Holdings
    ) async throws -> AuthorizationSession {
        guard let client = held.client else { throw GatewayError.noGrantApplies }
        let proof = try ProofKey()
        var additional = [("display", display.rawValue)]
        // In the query, as a browser sends it, and in the header, as every request of a registered device has it.
        if display == .page, let device = held.device { additional.append(("mag-identifier", device.magIdentifier)) }
        let authorization = AuthorizationRequest(
            clientID: client.id,
            scope: GatewayScope.authorization(
                configured: configuration.scope, singleSignOn: configuration.singleSignOn,
                registers: held.device == nil),
            redirectURI: redirectURI, proof: proof, additional: additional)
        let request = try await exchange.request(
            "GET", at: configuration.path(of: .authorize) + "?" + authorization.query.text,
            headers: ["Accept": "application/json"])
        let response = try await exchange.send(request, for: .beginAuthorization)
        guard response.status == (display == .page ? 302 : 200) else {
            throw GatewayError.failure(response, .beginAuthorization)
        }
        do {
            if display == .page {
                let address = try AuthorizationAnswer.page(response.headers.first("Location"))
                return AuthorizationSession(
                    idp: "all",
                    providers: [AuthenticationProvider(id: Self.pageID, authURL: address, pollURL: nil)],
                    proof: proof, clientID: client.id, redirectURI: redirectURI)
            }
            var session = try AuthorizationAnswer.session(response.body, proof: proof, clientID: client.id)
            session.redirectURI = redirectURI
            return session
        } catch let fault as AnswerFault {
            throw GatewayError.unexpectedAnswer(.beginAuthorization, status: response.status, reason: fault.reason)
        }
    }

    /// The name of the gateway's own login page, in place of a provider's.
    private static let pageID = "page"

    func poll(_ session: AuthorizationSession) async throws -> PollAnswer {
        guard let address = session.proximity?.pollURL else { throw GatewayError.proximityNotOffered }
        try await checkClient(of: session)
        let request = try await exchange.request(
            "GET", at: address, headers: ["Content-Type": FormBody.contentType, "Accept": "application/json"])
        var response = try await exchange.succeed(request, for: .pollAuthorization)
        defer { wipe(&response.body) }
        do {
            return try AuthorizationAnswer.poll(response.body, proof: session.proof)
        } catch let fault as AnswerFault {
            throw GatewayError.unexpectedAnswer(.pollAuthorization, status: 200, reason: fault.reason)
        }
    }

    /// Verifier and state are useless with new client credentials, as after a removal or a reset (MAG 12.4).
    ///
    /// - Throws: ``GatewayError/authorizationEnded``
    func checkClient(of session: AuthorizationSession) async throws {
        guard try await store.holdings().client?.id == session.clientID else { throw GatewayError.authorizationEnded }
    }

    // MARK: Authorizing another device

    /// Authorization URLs have no fixed path that a client could know (MAG 7.3), and calls of the gateway's many other
    /// URLs in the user's name would do something else. So a stranger's URL must have the form of one that the gateway
    /// gave to this board. The board requests one if it has none yet, or an old one with another form.
    func approved(_ text: String) async throws -> (path: String, session: String) {
        let url = try ProviderURL(text, at: configuration.identity)
        if let session = try await form(mayBeOld: true).identifier(in: url) { return (url.path, session) }
        // The form may have changed with an update of the gateway.
        guard let session = try await form(mayBeOld: false).identifier(in: url) else {
            throw GatewayError.providerURLInvalid(reason: "it does not name a pending login at this gateway")
        }
        return (url.path, session)
    }

    private func form(mayBeOld: Bool) async throws -> ProviderForm {
        if let known = known.withLock({ $0 }), mayBeOld || store.clocks.uptime() - known.at < Self.formLife {
            return known.form
        }
        guard let own = try await begin().proximity else { throw GatewayError.proximityNotOffered }
        let form = try ProviderForm(of: own.authURL, at: configuration.identity)
        remember(form)
        return form
    }

    func remember(_ form: ProviderForm) {
        let now = store.clocks.uptime()
        known.withLock { $0 = (form, now) }
    }

    /// The minimum interval between requests to the gateway because of URLs with another form.
    private static var formLife: Duration { .seconds(3600) }

    func authorize(providerURL: String, loggedInAt date: Date?) async throws {
        _ = try ProviderURL(providerURL, at: configuration.identity)
        let logIn = try await calls.user(loggedInAt: date).loggedInAt
        let path = try await approved(providerURL).path
        let need = Need(principal: .user)
        var response = try await calls.call(
            "POST", path, headers: ["Content-Type": FormBody.contentType, "Accept": "text/plain"], body: [], for: need,
            loggedInAt: logIn)
        if response.status == 405 {
            response = try await calls.call(
                "GET", path, headers: ["Accept": "text/plain"], body: nil, for: need, loggedInAt: logIn)
        }
        guard response.isSuccess else { throw GatewayError.failure(response, .authorizeDevice) }
    }
}
