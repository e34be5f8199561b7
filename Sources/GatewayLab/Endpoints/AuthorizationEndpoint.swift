import Cryptography
import Foundation
import Groundwork

/// E3: a client requests a user's login (MAG 7.1, 7.2).
extension GatewayCore {
    /// Longest `state` that is kept, in bytes.
    private static let stateLimit = 512

    /// Starts an authorization session.
    ///
    /// `display=social_login` answers with the ways to log in, `display=template` leads a browser to the login page
    /// (MAG checklist 62). Faults of the client or its redirect_uri are answered directly; with `template`, other
    /// faults reach the client through its redirect_uri.
    mutating func authorize(_ request: WireRequest, now: Date) throws -> WireResponse {
        let endpoint = Endpoint.authorization
        guard let query = Parameters(query: request.query), !query.hasDuplicates else {
            throw GatewayFault(endpoint.errorPrefix + 103, "invalid_request", "The query cannot be read")
        }
        let display = query["display"]
        guard let display, ["social_login", "template"].contains(display) else {
            throw GatewayFault(
                endpoint.errorPrefix + 103, "invalid_request", "display must be social_login or template")
        }
        let master = try authorizingMaster(query["client_id"], now: now)
        guard !master.redirectURI.isEmpty else {
            throw GatewayFault(endpoint.errorPrefix + 130, "invalid_request", "The client has no redirect_uri")
        }
        guard query["redirect_uri"].map({ Self.redirectURI($0, isOf: master) }) ?? true else {
            throw GatewayFault(
                endpoint.errorPrefix + 114, "invalid_request", "redirect_uri does not match that of the client")
        }
        guard display == "template" else {
            return providers(of: try begin(query, request: request, master: master, now: now))
        }
        do {
            let session = try begin(query, request: request, master: master, now: now)
            return .redirect(to: try loginURL(of: session, now: now))
        } catch let fault as GatewayFault {
            let redirectURI = query["redirect_uri"] ?? master.redirectURI
            return .redirect(to: refusal(fault, redirectURI: redirectURI, state: query["state"]))
        }
    }

    private mutating func begin(_ query: Parameters, request: WireRequest, master: MasterClient, now: Date) throws
        -> Authorization
    {
        let endpoint = Endpoint.authorization
        guard query["response_type"] == "code" else {
            throw GatewayFault(endpoint.errorPrefix + 116, "unsupported_response_type", "response_type must be code")
        }
        guard query["state"].map({ $0.utf8.count <= Self.stateLimit }) ?? true else {
            throw GatewayFault(endpoint.errorPrefix + 103, "invalid_request", "state is too long")
        }
        var magIdentifier: String?
        if request.header("mag-identifier") != nil {
            magIdentifier = try device(of: request, at: endpoint, missing: 107, now: now).magIdentifier
        } else if let inQuery = query["mag-identifier"] {
            magIdentifier = try device(inQuery, at: endpoint).magIdentifier
        }
        let session = Authorization(
            id: Hex.encode(try Random.bytes(16)), clientID: query["client_id"] ?? master.clientID,
            master: master.clientID, magIdentifier: magIdentifier,
            redirectURI: query["redirect_uri"] ?? master.redirectURI,
            scopes: try scopes(query["scope"], of: master, at: endpoint), challenge: try Self.challenge(in: query),
            state: query["state"], expiresAt: now + TimeInterval(configuration.lives.authorization))
        authorizations = authorizations.filter { $0.value.endsAt > now }
        authorizations[session.id] = session
        return session
    }

    /// The PKCE challenge (RFC 7636 section 4.2). `plain`, also the default, is refused: it does not protect against
    /// eavesdropping.
    /// - Throws: 3000112
    private static func challenge(in query: Parameters) throws -> [UInt8]? {
        let (text, method) = (query["code_challenge"], query["code_challenge_method"])
        if text == nil, method == nil { return nil }
        guard method == "S256", let text, text.utf8.count == 43,
            let bytes = Base64.decode(text, alphabet: .urlSafe)
        else {
            throw GatewayFault(
                Endpoint.authorization.errorPrefix + 112, "invalid_request",
                "code_challenge must be the SHA-256 of the verifier in base64url, and its method S256")
        }
        return bytes
    }

    /// Whether a client may ask for this redirect_uri: its own, with any port if it is on the loopback interface and
    /// has none (RFC 8252 section 7.3).
    private static func redirectURI(_ asked: String, isOf master: MasterClient) -> Bool {
        if asked == master.redirectURI { return true }
        guard let own = URLComponents(string: master.redirectURI), var other = URLComponents(string: asked),
            own.scheme == "http", own.port == nil, ["127.0.0.1", "[::1]", "localhost"].contains(own.host)
        else { return false }
        other.port = nil
        return other == own
    }

    /// The ways to log in, in an order that does not begin with the gateway's own.
    private func providers(of session: Authorization) -> WireResponse {
        func provider(_ id: String, _ url: String, poll: String? = nil) -> JSON {
            var members: [String: JSON] = ["id": .string(id), "auth_url": .string(url)]
            members["poll_url"] = poll.map(JSON.string)
            return ["provider": .object(members)]
        }
        let proximity = "\(baseURL)\(Endpoint.deviceAuthorization.path)/\(session.id)"
        let social = configuration.socialProviders.map { name in
            provider(name, "\(baseURL)\(Endpoint.socialLogin.path)/\(name)?sessionID=\(session.id)")
        }
        return .json([
            "idp": .string(configuration.identityProvider),
            "providers": .array(
                social + [
                    provider("enterprise", "\(baseURL)\(Endpoint.enterpriseLogin.path)?sessionID=\(session.id)"),
                    provider("qrcode", proximity, poll: proximity + Endpoint.pollSuffix),
                ]),
        ])
    }

    private func authorizingMaster(_ clientID: String?, now: Date) throws -> MasterClient {
        let instance = clientID.flatMap { state.instances[$0] }
        let master = configuration.masterClients.first { $0.clientID == instance?.master ?? clientID }
        guard let master, instance?.hasEnded(now) != true else {
            throw GatewayFault(
                Endpoint.authorization.errorPrefix + 201, status: 401, "invalid_client",
                "The client_id is unknown")
        }
        return master
    }
}
