import Cryptography
import Foundation
import Groundwork

/// Logging in with a browser: login page, consent, and back to the client's redirect_uri (MAG 7.2).
///
/// The rights of a page are in its `sessionData`, a JWS of the lab: that of the login page names the session, that of
/// the consent page also the user, so that no other page can post in its place.
extension GatewayCore {
    /// `GET /enterprise/login?sessionID=…`, the `auth_url` of the provider `enterprise`.
    func enterpriseLogin(_ request: WireRequest, now: Date) throws -> WireResponse {
        let endpoint = Endpoint.enterpriseLogin
        let id = Parameters(query: request.query)?["sessionID"] ?? ""
        return .redirect(to: try loginURL(of: try openAuthorization(id, at: endpoint, now: now), now: now))
    }

    /// `GET /social/login/{provider}?sessionID=…`, the `auth_url` of a social provider.
    func socialLogin(_ request: WireRequest, now: Date) throws -> WireResponse {
        let endpoint = Endpoint.socialLogin
        let name = String(request.path.dropFirst(endpoint.path.count + 1))
        guard configuration.socialProviders.contains(name) else {
            throw GatewayFault(endpoint.errorPrefix + 103, "invalid_request", "The provider is unknown")
        }
        let id = Parameters(query: request.query)?["sessionID"] ?? ""
        let session = try openAuthorization(id, at: endpoint, now: now)
        return .redirect(to: try loginURL(of: session, now: now) + "&provider=" + name)
    }

    func loginURL(of session: Authorization, now: Date) throws -> String {
        "\(baseURL)\(Endpoint.login.path)?action=display&sessionID=\(session.id)&sessionData=\(try sessionData(session))"
    }

    /// E3a. GET shows the page; POST with `action=login` leads to consent, with `action=cancel` back to the client.
    mutating func logIn(_ request: WireRequest, now: Date) throws -> WireResponse {
        let endpoint = Endpoint.login
        let input = try browserInput(of: request, at: endpoint)
        let (session, _) = try browserSession(input, at: endpoint, now: now)
        switch (request.method, input["action"]) {
        case ("GET", "display"), ("GET", nil):
            return loginPage(
                session, sessionData: input["sessionData"] ?? "",
                provider: configuration.socialProviders.first { $0 == input["provider"] })
        case ("POST", "cancel"): return refuse(session, at: endpoint, suffix: 123, "The user canceled the login")
        case ("POST", "login"):
            guard let user = user(named: input["username"] ?? "", password: input["password"] ?? "") else {
                var page = loginPage(session, sessionData: input["sessionData"] ?? "", isWrong: true)
                let fault = GatewayFault(
                    endpoint.errorPrefix + 202, status: 401, "access_denied",
                    "The given resource owner credentials were not valid")
                page.status = fault.status
                page.headers += fault.response.headers.filter { ["x-ca-err", "WWW-Authenticate"].contains($0.name) }
                return page
            }
            return LoginPage.consent(
                client: clientName(of: session), user: user, scopes: session.scopes, redirectURI: session.redirectURI,
                action: baseURL + Endpoint.consent.path, sessionID: session.id,
                sessionData: try sessionData(session, user: user.name))
        default: throw GatewayFault(endpoint.errorPrefix + 103, "invalid_request", "The action is unknown")
        }
    }

    /// E3b: `action=grant` gives the client a code, `action=deny` an error.
    mutating func consent(_ request: WireRequest, now: Date) throws -> WireResponse {
        let endpoint = Endpoint.consent
        let input = try browserInput(of: request, at: endpoint)
        let (session, user) = try browserSession(input, at: endpoint, now: now)
        guard let user else {
            throw GatewayFault(endpoint.errorPrefix + 110, "invalid_request", "No user has logged in to this session")
        }
        switch input["action"] {
        case "deny": return refuse(session, at: endpoint, suffix: 124, "The user denied the consent")
        case "grant":
            let code = try grant(session, to: user, at: endpoint, now: now)
            var pairs = [("code", code.value)]
            if let state = session.state { pairs.append(("state", state)) }
            var response = WireResponse.redirect(to: Self.url(session.redirectURI, pairs))
            response.note = "\(user) authorized a login in a browser"
            return response
        default: throw GatewayFault(endpoint.errorPrefix + 103, "invalid_request", "action must be grant or deny")
        }
    }

    private func browserInput(of request: WireRequest, at endpoint: Endpoint) throws -> Parameters {
        if request.method == "POST" { return try form(of: request, at: endpoint) }
        guard let query = Parameters(query: request.query) else {
            throw GatewayFault(endpoint.errorPrefix + 103, "invalid_request", "The query cannot be read")
        }
        return query
    }

    /// The session of a page, and the user who has logged in to it.
    /// - Throws: a fault ending in 110
    private func browserSession(_ input: Parameters, at endpoint: Endpoint, now: Date) throws -> (
        Authorization, String?
    ) {
        let session = try openAuthorization(input["sessionID"] ?? "", at: endpoint, now: now)
        guard let token = try? JWS.Token(compact: input["sessionData"] ?? ""), token.algorithm == .ES256,
            (try? token.verify(with: .key(authority.ticketKey.publicKey))) != nil,
            let claims = try? JSON(parsing: token.payload), claims["sid"]?.string == session.id
        else {
            throw GatewayFault(
                endpoint.errorPrefix + 110, "invalid_request", "sessionData does not belong to the session")
        }
        return (session, claims["sub"]?.string)
    }

    private func sessionData(_ session: Authorization, user: String? = nil) throws -> String {
        var claims: [String: JSON] = ["sid": .string(session.id), "exp": .integer(session.expiresAt.epochSeconds)]
        claims["sub"] = user.map(JSON.string)
        return try JWS.sign(
            JSON.object(claims).bytes, algorithm: .ES256, key: .key(authority.ticketKey), keyID: nil)
    }

    private func loginPage(
        _ session: Authorization, sessionData: String, provider: String? = nil, isWrong: Bool = false
    ) -> WireResponse {
        LoginPage.login(
            place: provider.map { "\($0), which the Latchkey lab plays" } ?? "the Latchkey lab",
            client: clientName(of: session), redirectURI: session.redirectURI, action: baseURL + Endpoint.login.path,
            sessionID: session.id, sessionData: sessionData, isWrong: isWrong)
    }

    private func clientName(of session: Authorization) -> String {
        let name = session.magIdentifier.flatMap { state.devices[$0]?.name }
        let organization = configuration.masterClients.first { $0.clientID == session.master }?.organization
        return name ?? "A device of \(organization ?? session.master)"
    }

    /// Ends the session, and reports it to the client.
    private mutating func refuse(_ session: Authorization, at endpoint: Endpoint, suffix: Int, _ text: String)
        -> WireResponse
    {
        authorizations[session.id]?.progress = .denied(suffix: suffix)
        let fault = GatewayFault(endpoint.errorPrefix + suffix, "access_denied", text)
        return .redirect(to: refusal(fault, redirectURI: session.redirectURI, state: session.state))
    }

    /// The URL through which a browser reports a fault to the client.
    func refusal(_ fault: GatewayFault, redirectURI: String, state: String?) -> String {
        var pairs = [
            ("error", fault.error), ("error_description", fault.text), ("x-ca-err", String(fault.code)),
        ]
        if let state { pairs.append(("state", state)) }
        return Self.url(redirectURI, pairs)
    }

    private static func url(_ base: String, _ pairs: [(String, String)]) -> String {
        let query = pairs.map { "\($0.0)=\(percentEncoded($0.1))" }.joined(separator: "&")
        return base + (base.contains("?") ? "&" : "?") + query
    }
}
