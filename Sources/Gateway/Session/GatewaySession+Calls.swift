import Cryptography
import FoundationEssentials
import Groundwork
import HTTPClient
import OAuth
import Synchronization

/// Protected calls (MAG 6).
extension GatewaySession {
    /// Calls an API of the gateway or of a configured host, with everything it needs: access token, device identifier, client
    /// certificate. Refusals that can be put right are, and the call is repeated, at most ``Recovery/attempts`` times in all.
    ///
    /// - Parameters:
    ///   - path: a path below the gateway that begins with `/`, or an absolute `https` URL of a configured host. A public host
    ///     gets nothing of ours (MAG checklist 31).
    ///   - scope: scopes needed beyond the configured ones, separated by blanks.
    ///   - principal: in whose name. In a user's it fails with ``GatewayError/userRequired`` when nobody is logged in.
    ///   - date: of the log-in that is meant; `nil` for whoever is logged in when the call begins. However often the call is
    ///     repeated, it is never made in the name of anybody who logged in later.
    /// - Returns: the API's own answer, also when its status is no success.
    /// - Throws: ``GatewayError`` when there was no answer, or one that is about this client, device or token.
    public func call(
        method: String, path: String, headers: HTTPHeaders = [:], body: [UInt8]? = nil, scope: String? = nil,
        as principal: Principal = .board, loggedInAt date: Date? = nil
    ) async throws -> HTTPResponse {
        let target = try CallTarget.resolve(path, at: configuration.identity)
        let security = try security(of: target)
        let request = HTTPRequest(method, target.url, headers: headers, body: body, trust: trust(security))
        if security.isPublic { return try await send(request, through: FilterChain(client: client, attempts: 1)) }
        let logIn = principal == .user ? try await requireUser(loggedInAt: date).loggedInAt : nil
        let chain = protectedChain(scope, Passage(principal, logIn))
        return try await noted {
            let response = try await send(request, through: chain)
            noteContact()
            return response
        }
    }

    private func send(_ request: HTTPRequest, through chain: FilterChain) async throws -> HTTPResponse {
        do {
            return try await chain.send(request)
        } catch HTTPError.cancelled {
            throw CancellationError()
        } catch let error as HTTPError {
            throw GatewayError.noAnswer(.call, error)
        }
    }

    private func protectedChain(_ scope: String?, _ passage: Passage) -> FilterChain {
        FilterChain(
            client: client, requestFilters: [CredentialsFilter(session: self, passage: passage, scope: scope)],
            responseFilters: [RecoveryFilter(session: self, passage: passage)],
            challengeFilters: [DeviceIdentityFilter(session: self)], attempts: Recovery.attempts)
    }

    /// What is injected (MAG 6.1), with the revision it was taken at.
    fileprivate func credentials(scope: String?, for passage: Passage) async throws -> (
        bearer: String, magIdentifier: String?, revision: Int
    ) {
        let principal = passage.principal
        if let logIn = passage.logIn { try await requireUser(loggedInAt: logIn) }
        try await establish(scope: scope, as: principal, passage.attempts)
        let holdings = try await holdings()
        // The token is taken from the same state as the log-in it is of: meanwhile somebody else may have logged in.
        if let logIn = passage.logIn, holdings.user?.isLogIn(of: logIn) != true { throw GatewayError.userRequired }
        guard let token = holdings[principal].access else {
            throw principal == .user ? GatewayError.userRequired : .noGrantApplies
        }
        return ("Bearer " + token.value.exposedText(), holdings.device?.magIdentifier, revision)
    }

    fileprivate func verdict(on response: HTTPResponse) async throws -> CallVerdict {
        let isStatic = try await holdings().client?.isStatic ?? false
        return CallVerdict.of(response, isStaticClient: isStatic)
    }
}

/// What the filters of one call tell each other.
private final class Passage: Sendable {
    let principal: Principal
    /// Of the user in whose name the call is made.
    let logIn: Date?
    let attempts = Attempts(limit: Recovery.attempts)
    /// The session's revision that the newest attempt was made with.
    let revision = Mutex(0)

    init(_ principal: Principal, _ logIn: Date?) { (self.principal, self.logIn) = (principal, logIn) }
}

/// Puts the access token and the device identifier into a request, bringing them about first.
private struct CredentialsFilter: RequestFilter {
    let session: GatewaySession
    let passage: Passage
    let scope: String?

    func prepare(_ request: inout HTTPRequest, attempt: Int) async throws {
        let credentials = try await session.credentials(scope: scope, for: passage)
        request.headers.set("Authorization", credentials.bearer)
        if let magIdentifier = credentials.magIdentifier { request.headers.set("mag-identifier", magIdentifier) }
        passage.revision.withLock { $0 = credentials.revision }
    }
}

/// Puts right what an answer says is wrong, as far as that can be done, and has the request repeated.
private struct RecoveryFilter: ResponseFilter {
    let session: GatewaySession
    let passage: Passage

    func judge(_ response: HTTPResponse, to request: HTTPRequest, attempt: Int) async throws -> Judgement {
        switch try await session.verdict(on: response) {
        case .answer: return .accept(response)
        case .fail(let error): throw error
        case .recover(let recovery, let refusal):
            guard !passage.attempts.isSpent else { throw GatewayError.refused(refusal) }
            try await session.recover(recovery, as: passage.principal, since: passage.revision.withLock { $0 })
            return .restart
        }
    }
}

/// Offers the device certificate wherever a configured host asks for one (MAG 0.3).
private struct DeviceIdentityFilter: ChallengeFilter {
    let session: GatewaySession

    func identity(for host: String) async throws -> TLSIdentity? { try await session.identity() }
}
