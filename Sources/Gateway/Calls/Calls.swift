import Cryptography
import FoundationEssentials
import Groundwork
import HTTPClient
import OAuth

/// Calls APIs of the gateway and of configured hosts (MAG 6).
struct Calls: Sendable {
    let operations: Operations

    private var store: HoldingsStore { operations.parts.store }
    private var exchange: Exchange { operations.parts.exchange }

    /// - Parameters:
    ///   - need: the principal of the call, and the scopes that it needs.
    ///   - date: when the user logged in; `nil` for the user who is logged in when the call begins.
    func call(
        _ method: String, _ path: String, headers: HTTPHeaders, body: [UInt8]?, for need: Need, loggedInAt date: Date?
    ) async throws -> HTTPResponse {
        let target = try CallTarget.resolve(path, at: store.configuration.identity)
        let security = try exchange.security(of: target)
        let request = HTTPRequest(method, target.url, headers: headers, body: body, trust: exchange.trust(security))
        if security.isPublic { return try await send(request, with: []) }
        let logIn = need.principal == .user ? try await user(loggedInAt: date).loggedInAt : nil
        return try await exchange.contacts.noting(by: store.clocks) {
            try await operations.recovering(as: need.principal) {
                try await attempt(request, for: need, loggedInAt: logIn)
            }
        }
    }

    /// - Parameter date: when the user logged in; `nil` for the current user.
    /// - Throws: ``GatewayError/userRequired``
    @discardableResult
    func user(loggedInAt date: Date?) async throws -> HeldUser {
        guard let user = try await store.holdings().user, date.map(user.isLogIn) ?? true else {
            throw GatewayError.userRequired
        }
        return user
    }

    private func attempt(
        _ request: HTTPRequest, for need: Need, loggedInAt logIn: Date?
    ) async throws -> HTTPResponse {
        if let logIn { try await user(loggedInAt: logIn) }
        if try await operations.parts.preparation.nextStep(for: need) != .ready {
            try await operations.run(.prepare(need)) { try await $0.preparation.prepare(for: need, in: $1) }
        }
        let state = try await store.state()
        let response = try await send(request, with: [try Credentials(state.holdings, need.principal, logIn)])
        switch CallVerdict.of(response, isStaticClient: state.holdings.client?.isStatic ?? false) {
        case .answer:
            exchange.noteContact(by: request)
            return response
        case .fail(let error): throw error
        case .recover(_, let refusal): throw RefusedAttempt(refusal: refusal, revision: state.revision)
        }
    }

    private func send(_ request: HTTPRequest, with credentials: [Credentials]) async throws -> HTTPResponse {
        let chain = FilterChain(
            client: exchange.client, requestFilters: credentials, challengeFilters: credentials, attempts: 1)
        do {
            return try await chain.send(request)
        } catch HTTPError.cancelled {
            throw CancellationError()
        } catch let error as HTTPError {
            throw GatewayError.noAnswer(.call, error)
        }
    }
}

/// The credentials that a protected call sends for the board or its user (MAG 0.3, 6.1), all from the same state.
private struct Credentials: RequestFilter, ChallengeFilter {
    let bearer: String
    let magIdentifier: String?
    let identity: TLSIdentity?

    /// - Parameter logIn: when the calling user logged in: another user may have logged in meanwhile.
    /// - Throws: ``GatewayError/userRequired``, ``GatewayError/noGrantApplies``
    init(_ held: Holdings, _ principal: Principal, _ logIn: Date?) throws(GatewayError) {
        if let logIn, held.user?.isLogIn(of: logIn) != true { throw .userRequired }
        guard let token = held[principal].access else { throw principal == .user ? .userRequired : .noGrantApplies }
        bearer = "Bearer " + token.value.exposedText()
        magIdentifier = held.device?.magIdentifier
        identity = held.identity
    }

    func prepare(_ request: inout HTTPRequest, attempt: Int) {
        request.headers.set("Authorization", bearer)
        if let magIdentifier { request.headers.set("mag-identifier", magIdentifier) }
    }

    /// Offered to every configured host that asks for a client certificate.
    func identity(for host: String) -> TLSIdentity? { identity }
}
