import Cryptography
import FoundationEssentials
import Groundwork
import HTTPClient
import OAuth

/// Calls APIs of the gateway and of configured hosts (MAG 6).
struct Calls: Sendable {
    let operations: Operations
    let factors: MultiFactor
    let geolocation: Geolocation

    private var store: HoldingsStore { operations.parts.store }
    private var exchange: GatewayExchange { operations.parts.exchange }

    /// - Parameters:
    ///   - need: the principal of the call, and the scopes that it needs.
    ///   - date: when the user logged in; `nil` for the user who is logged in when the call begins.
    func call(
        _ method: String, _ path: String, headers: HTTPHeaders, body: [UInt8]?, for need: Need, loggedInAt date: Date?
    ) async throws -> HTTPResponse {
        var call = APICall(method, path)
        (call.headers, call.body, call.loggedInAt) = (headers, body, date)
        (call.principal, call.scope) = (need.principal, need.scope)
        return try await self.call(call)
    }

    func call(_ call: APICall) async throws -> HTTPResponse {
        let answer = try await perform(call, streams: false)
        return answer.response ?? HTTPResponse(status: answer.status, headers: answer.headers)
    }

    func open(_ call: APICall) async throws -> CallAnswer { try await perform(call, streams: true) }

    /// - Parameter isChallenged: whether the session's handlers answer what the API demands.
    private func perform(_ call: APICall, streams: Bool, isChallenged: Bool = true) async throws -> CallAnswer {
        let target = try CallTarget.resolve(call.path, by: store.configuration)
        let security = try exchange.security(of: target)
        var request = HTTPRequest(
            call.method, target.url, headers: call.headers, body: call.body, trust: exchange.trust(security))
        let limit = call.timeout ?? security.timeout
        request.identity = call.identity
        request.timeout = limit ?? APICall.timeout
        request.streamTimeout = limit
        request.silenceLimit = streams ? limit ?? APICall.timeout : nil
        let sending = Sending(request: request, signing: call.signing, feed: call.feed, streams: streams)
        if security.isPublic || call.isPublic {
            if call.signing != nil { throw GatewayError.unsignable(.publicHost(host: security.name)) }
            return try await send(sending, with: [])
        }
        let need = Need(principal: call.principal, scope: call.scope)
        let user = need.principal == .user ? try await user(loggedInAt: call.loggedInAt) : nil
        let send: MultiFactorHandler.Repetition = { headers in
            try await exchange.contacts.noting(by: store.clocks) {
                try await operations.recovering(as: need.principal) {
                    try await attempt(sending.adding(headers), for: need, loggedInAt: user?.loggedInAt)
                }
            }
        }
        guard isChallenged else { return try await send([:]) }
        let challenged = ChallengedCall(call, to: target, as: user?.name, at: store.clocks.uptime()) { other in
            var other = other
            (other.principal, other.loggedInAt) = (call.principal, user?.loggedInAt)
            let answer = try await perform(other, streams: false, isChallenged: false)
            return answer.response ?? HTTPResponse(status: answer.status, headers: answer.headers)
        }
        return try await factors.complete(challenged, sending: send)
    }

    /// A request as each attempt sends it.
    private struct Sending: Sendable {
        var request: HTTPRequest
        let signing: BodySigning?
        let feed: (@Sendable () async throws -> BodyFeed)?
        /// Whether a successful answer is returned before its body is complete.
        let streams: Bool

        func adding(_ headers: HTTPHeaders) -> Sending {
            var sending = self
            for field in headers.fields { sending.request.headers.set(field.name, field.value) }
            return sending
        }
    }

    /// - Parameter date: when the user logged in; `nil` for the current user.
    /// - Throws: ``GatewayError/userRequired``, ``SessionLockError/locked(userName:)``
    @discardableResult
    func user(loggedInAt date: Date?) async throws -> HeldUser {
        let held = try await store.holdings()
        try held.requireUnlocked()
        guard let user = held.user, date.map(user.isLogin) ?? true else {
            throw GatewayError.userRequired
        }
        return user
    }

    private func attempt(
        _ sending: Sending, for need: Need, loggedInAt logIn: Date?
    ) async throws -> CallAnswer {
        if let logIn { try await user(loggedInAt: logIn) }
        let state = try await operations.prepare(for: need)
        let credentials = try Credentials(state.holdings, need.principal, logIn)
        let answer = try await attachingGeolocation(sending.request) { request in
            var sending = sending
            sending.request = request
            try await sending.signing?.sign(
                &sending.request, by: state.holdings, as: need.principal, at: store.configuration.identity,
                now: store.clocks.date())
            return try await send(sending, with: [credentials])
        }
        switch CallVerdict.of(answer, isStaticClient: state.holdings.client?.isStatic ?? false) {
        case .answer:
            exchange.noteContact(by: sending.request)
            return answer
        case .fail(let error): throw error
        case .recover(_, let refusal): throw RefusedAttempt(refusal: refusal, revision: state.revision)
        }
    }

    private func send(_ sending: Sending, with credentials: [Credentials]) async throws -> CallAnswer {
        let chain = FilterChain(
            client: exchange.client, requestFilters: credentials, challengeFilters: credentials, attempts: 1)
        var request = sending.request
        request.feed = try await sending.feed?()
        return try await GatewayError.ofCall {
            guard sending.streams else { return CallAnswer(try await chain.send(request)) }
            let stream = try await chain.open(request)
            guard !(200..<300).contains(stream.status) else { return CallAnswer(stream) }
            // It may be a refusal to recover from.
            var response = HTTPResponse(status: stream.status, headers: stream.headers)
            for try await piece in stream {
                guard response.body.count + piece.count <= request.responseLimit else {
                    throw HTTPError.responseTooLarge(
                        url: String(request.url.prefix { $0 != "?" }), limit: request.responseLimit)
                }
                response.body += piece
            }
            return CallAnswer(response)
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
        if let logIn, held.user?.isLogin(of: logIn) != true { throw .userRequired }
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
