import Cryptography
import Groundwork
import HTTPClient
import OAuth

/// The parts of what a protected call needs, in the order in which they are brought about (MAG 0.2).
enum ChainStep: CaseIterable {
    case clientCredentials, registration, certificate, accessToken
}

/// A refusal after which something was put right, so that the chain is walked again.
struct ChainRestart: Error {
    let refusal: Refusal
}

extension GatewaySession {
    /// Brings about everything a protected call needs: client credentials, registration, certificate, access token.
    ///
    /// - Throws: ``GatewayError``, what the vault throws, or `CancellationError`.
    public func ready() async throws { try await establish(scope: nil, as: .board, Attempts(limit: Recovery.attempts)) }

    /// A valid access token of the board's own.
    /// - Parameter scope: scopes needed beyond the configured ones, separated by blanks.
    public func accessToken(scope: String? = nil) async throws -> AccessToken {
        try await establish(scope: scope, as: .board, Attempts(limit: Recovery.attempts))
        return try await currentToken()
    }

    /// A new access token, whatever the one at hand is worth.
    public func refreshedToken() async throws -> AccessToken {
        try await dropAccessToken()
        return try await accessToken()
    }

    /// Forgets the access token, as somebody refused it; the next use obtains another. The refresh token stays.
    public func dropAccessToken() async throws {
        try await recover(.dropAccessToken, as: .board, since: revision)
    }

    private func currentToken() async throws -> AccessToken {
        guard let token = try await holdings().tokens.access else { throw GatewayError.noGrantApplies }
        return token.token(at: clock(), uptime: uptime())
    }

    // MARK: Walking the chain

    func establish(scope: String?, as principal: Principal, _ attempts: Attempts) async throws {
        var last: Refusal?
        while attempts.take() {
            if try await firstMissing(scope, principal) == nil { return }
            do {
                return try await operations.join(.establish(scope: scope, principal)) {
                    try await self.noted { try await self.walk(scope, principal) }
                }
            } catch let restart as ChainRestart {
                last = restart.refusal
            }
        }
        // Without a refusal here, the attempts were used up by whoever asks, who then has one to tell.
        guard let last else { return }
        noteFailure(.refused(last))
        throw GatewayError.refused(last)
    }

    private func firstMissing(_ scope: String?, _ principal: Principal) async throws -> ChainStep? {
        let holdings = try await holdings()
        return ChainStep.allCases.first { !isSatisfied($0, holdings, scope, principal) }
    }

    private func isSatisfied(_ step: ChainStep, _ holdings: Holdings, _ scope: String?, _ principal: Principal) -> Bool
    {
        switch step {
        case .clientCredentials: hasClient(holdings)
        case .registration: holdings.device != nil
        case .certificate: !isRenewalDue(holdings)
        case .accessToken:
            holdings[principal].access.map { token in
                token.isValid(at: uptime()) && GatewayScope.suffices(token.scope, for: scope)
            } ?? false
        }
    }

    private func hasClient(_ holdings: Holdings) -> Bool {
        holdings.client.map { !$0.authentication.isExpired(at: clock()) } ?? false
    }

    /// Inside an operation: client credentials, where there are none that last.
    func initializeClientWhenDue() async throws {
        if try await !hasClient(holdings()) { try await initializeClient() }
    }

    /// Inside an operation. Each step is looked at when its turn comes: one before it may have changed what it finds.
    private func walk(_ scope: String?, _ principal: Principal) async throws {
        // A board that waits for a person asks for nothing, not even for client credentials.
        if let rest = try await holdings().rest { throw rest.error }
        try await recovering {
            for step in ChainStep.allCases where try await !isSatisfied(step, holdings(), scope, principal) {
                switch step {
                case .clientCredentials: try await initializeClient()
                case .registration: try await registerDevice()
                case .certificate: try await renewWhenDue()
                case .accessToken: try await obtainToken(scope, as: principal)
                }
            }
        }
    }

    /// Inside an operation: puts right what can be after a refusal.
    /// - Throws: ``ChainRestart`` when that was done.
    func recovering(_ work: () async throws -> Void) async throws {
        do {
            try await work()
        } catch GatewayError.refused(let refusal) {
            if refusal.operation == .renewCertificate, try await holdings().rest == nil {
                throw ChainRestart(refusal: refusal)
            }
            let held = try await holdings()
            let recovery = Recovery.from(refusal, isStaticClient: held.client?.isStatic ?? false)
            // A board without a certificate has none to renew.
            guard let recovery, recovery != .renewCertificate || held.device != nil else {
                throw GatewayError.refused(refusal)
            }
            try await apply(recovery)
            throw ChainRestart(refusal: refusal)
        }
    }

    // MARK: Putting right

    /// Puts right what a called API refused, unless somebody has since the request was made.
    func recover(_ recovery: Recovery, as principal: Principal, since used: Int) async throws {
        try await operations.join(.recover(recovery, principal, revision: used)) {
            if await self.revision == used { try await self.apply(recovery, principal) }
        }
    }

    /// Inside an operation.
    private func apply(_ recovery: Recovery, _ principal: Principal = .board) async throws {
        var next = try await holdings()
        switch recovery {
        case .dropAccessToken:
            next[principal].access = nil
            next.endUserWithoutTokens()
            try await commit(next)
        case .reinitializeClient:
            next.clearClient()
            try await commit(next)
        case .renewCertificate:
            try await renewCertificate()
        }
    }
}
