import Cryptography
import FoundationEssentials
import Groundwork
import HTTPClient
import OAuth
import Vault

/// The board's account at one OAuth 2.0 or OpenID Connect server: its client, its tokens and its logged-in user.
///
/// Whatever changes the tokens runs in a single flight: a thousand callers that need a token cause one request. What
/// the server has issued is in the vault before anybody uses it.
public actor OAuthAccount {
    /// What happens at most once at a time.
    enum Flight: Hashable {
        case token(Set<String>)
        /// A change of its own, that no other caller shares.
        case change(Int)
    }

    public nonisolated let name: String
    nonisolated let vault: Vault
    nonisolated let client: ServerClient
    nonisolated let clock: @Sendable () -> Date
    private nonisolated let onLoginNeeded: @Sendable (OAuthAccountError) -> Void
    nonisolated let flights = SingleFlight<Flight>()
    private static let start = ContinuousClock.now

    public private(set) var server: ServerConfiguration
    var holding: AccountHolding
    /// Why what a person has here cannot be read: the vault's passcode is locked.
    public internal(set) var fault: VaultError?
    /// How often what is held was forgotten.
    var locks = 0
    /// Whether the vault refused the newest holding, which is then only in memory.
    var isUnsaved = false
    var changes = 0
    /// The newest failure since the last success.
    public private(set) var lastFailure: (error: Explanation, time: Date)?
    var keySet: KeySet?
    /// Logins whose browser has not come back.
    var begun: [BegunLogin] = []

    init(
        name: String, server: ServerConfiguration, vault: Vault, client: ServerClient,
        clock: @escaping @Sendable () -> Date, onLoginNeeded: @escaping @Sendable (OAuthAccountError) -> Void
    ) {
        self.name = name
        self.server = server
        holding = AccountHolding()
        self.vault = vault
        self.client = client
        self.clock = clock
        self.onLoginNeeded = onLoginNeeded
    }

    /// Time by a clock that is never set.
    nonisolated var uptime: Duration { Self.uptime }
    static var uptime: Duration { ContinuousClock.now - start }

    /// The records of the account.
    nonisolated var scope: String { AccountRecords.scope(of: name) }

    // MARK: Tokens

    /// A valid access token whose scope includes this one; refreshed or requested if necessary.
    ///
    /// - Parameters:
    ///   - scope: with blanks between; `nil` means the account's own.
    ///   - life: how long it is to be valid; one that is valid for less is replaced, and taken if there is no better
    ///     one.
    /// - Throws: ``OAuthAccountError``, `HTTPError`, what the vault throws
    public func token(scope: String? = nil, lasting life: Duration = .zero) async throws -> AccessToken {
        try await requireUnlocked()
        let wanted = Scope.words(scope ?? server.scope)
        if !isUnsaved, let entry = holding.tokens.valid(for: wanted, at: uptime + life) { return shown(entry) }
        try await noting {
            try await self.flights.join(.token(wanted)) { [self] _ in
                // Not ended with its last caller: the server may have replaced a refresh token.
                try await Task { try await obtain(wanted, lasting: life) }.value
            }
        }
        try await requireUnlocked()
        guard let entry = holding.tokens.valid(for: wanted, at: uptime) else { throw logInNeeded(for: wanted) }
        return shown(entry)
    }

    private func shown(_ entry: TokenList.Entry) -> AccessToken { entry.access.token(at: clock(), uptime: uptime) }

    /// What is held, for a person: nothing secret.
    public func tokens() -> [(scope: String, lifeLeft: Double?, canBeRefreshed: Bool)] {
        holding.tokens.entries.map {
            let left = $0.access.isEndKnown ? ($0.access.deadline - uptime) / .seconds(1) : nil
            return ($0.access.scope, left, $0.refresh != nil)
        }
    }

    public func user() -> AccountUser? { holding.user }

    /// Whether nothing works until a person logs in.
    public var needsPerson: Bool { holding.tokens.isEmpty && !server.isUnattended && fault == nil }

    private func obtain(_ wanted: Set<String>, lasting life: Duration) async throws {
        try await requireUnlocked()
        if isUnsaved { try await keep(holding) }
        // An operation before this one may have brought it.
        guard holding.tokens.valid(for: wanted, at: uptime + life) == nil else { return }
        if let entry = holding.tokens.refreshable(for: wanted) {
            try await refresh(entry)
            guard holding.tokens.valid(for: wanted, at: uptime) == nil else { return }
        }
        guard server.isUnattended else { throw logInNeeded(for: wanted) }
        let scope = wanted.isEmpty ? nil : wanted.sorted().joined(separator: " ")
        let grant: any OAuth.Grant =
            server.grant == .clientCredentials
            ? ClientCredentialsGrant(scope: scope)
            : AssertionGrant(type: HeldIDToken.jwtBearer, assertion: try await ownAssertion(), scope: scope)
        let answer = try await request(grant.request)
        try await add(answer, requested: scope, user: nil)
    }

    private func logInNeeded(for wanted: Set<String>) -> OAuthAccountError {
        guard let refusal = holding.refusal, wanted.isSubset(of: refusal.scope) else {
            return .loginRequired(account: name)
        }
        return .refreshRefused(
            account: name, error: refusal.error, text: refusal.text, afterLostAnswer: refusal.isAfterLostAnswer)
    }

    private func refresh(_ entry: TokenList.Entry) async throws {
        guard let grant = RefreshTokenGrant(HeldTokens(refresh: entry.refresh)) else { return }
        let answer: TokenAnswer
        do {
            answer = try await request(grant.request)
        } catch OAuthAccountError.refused(let endpoint, let refusal) {
            guard OAuthRefusals().subject(of: refusal) == .grant else {
                throw OAuthAccountError.refused(endpoint: endpoint, refusal)
            }
            // It will never be accepted again.
            var rest = holding
            rest.tokens.remove(entry)
            let scope = entry.scope.union(entry.requested)
            rest.refusal = RefreshRefusal(
                error: refusal.error, text: refusal.text, scope: scope, isAfterLostAnswer: entry.isAnswerLost)
            try await keep(rest)
            if !server.isUnattended { onLoginNeeded(logInNeeded(for: scope)) }
            return
        } catch {
            if Self.mayHaveLostAnswer(error), !entry.isAnswerLost {
                var next = holding
                next.tokens.noteLostAnswer(of: entry)
                // Why the refresh failed matters more.
                try? await keep(next)
            }
            throw error
        }
        killPoint("oauth-refresh-answered")
        var renewed = holding
        // What the answer leaves out stays as it was (RFC 6749 section 6).
        renewed.tokens.add(
            .init(
                access: held(answer, scope: answer.scope ?? entry.access.scope),
                refresh: answer.refreshToken ?? entry.refresh, requested: entry.requested),
            inPlaceOf: entry, at: uptime)
        renewed.refusal = nil
        try await keep(renewed)
        killPoint("oauth-refresh-committed")
    }

    /// Whether the server may have granted what was asked for, although no usable answer came.
    private static func mayHaveLostAnswer(_ error: any Error) -> Bool {
        switch error {
        case OAuthAccountError.noAnswer, OAuthAccountError.answerInvalid, HTTPError.timeout, HTTPError.connectionLost,
            HTTPError.malformedResponse, HTTPError.bodyUndecodable, HTTPError.responseTooLarge,
            HTTPError.responseHeadTooLarge, HTTPError.cancelled:
            true
        default: false
        }
    }

    /// Adds what a server has issued. Must run in a flight.
    ///
    /// - Parameter user: who logged in; tokens of anybody else are dropped.
    func add(_ answer: TokenAnswer, requested: String?, user: AccountUser?) async throws {
        var next = holding
        next.refusal = nil
        if let user {
            if !user.isSame(as: holding.user) { next.tokens = TokenList() }
            next.user = user
        }
        // Without an answer the scope is the one asked for (RFC 6749 section 5.1).
        next.tokens.add(
            .init(
                access: held(answer, scope: answer.scope ?? requested ?? ""), refresh: answer.refreshToken,
                requested: Scope.words(requested)),
            at: uptime)
        killPoint("oauth-login-answered")
        try await keep(next)
    }

    /// A server that names no lifetime decides by refusing the token.
    private func held(_ answer: TokenAnswer, scope: String) -> HeldToken {
        HeldToken(
            value: answer.accessToken, lifetime: answer.lifetime > 0 ? answer.lifetime : TokenAnswer.lifetimeLimit,
            scope: scope, at: clock(), uptime: uptime)
    }

    /// Drops an access token that a server refused, so that the next caller gets another.
    func drop(_ token: AccessToken) async throws {
        try await change { account in
            var rest = account.holding
            rest.tokens.drop(access: token.value)
            try await account.keep(rest)
        }
    }

    // MARK: Changes

    /// Runs a change of the account, alone.
    func change(_ work: @escaping @Sendable (isolated OAuthAccount) async throws -> Void) async throws {
        try await requireUnlocked()
        changes += 1
        let flight = Flight.change(changes)
        try await noting {
            try await self.flights.join(flight) { [self] _ in try await Task { try await work(self) }.value }
        }
    }

    private func noting(_ work: () async throws -> Void) async throws {
        do {
            try await work()
            lastFailure = nil
        } catch {
            if !(error is CancellationError), !Self.isPending(error) { lastFailure = (Explanation(of: error), clock()) }
            throw error
        }
    }

    /// Whether an error only says that a user has not agreed yet (RFC 8628 section 3.5).
    private static func isPending(_ error: any Error) -> Bool {
        guard case OAuthAccountError.refused(_, let refusal) = error else { return false }
        return refusal.code == .authorizationPending || refusal.code == .slowDown
    }

    /// In memory first: if the vault fails, a refresh token that the server has replaced still works here, unless the
    /// vault's passcode was locked meanwhile.
    func keep(_ next: AccountHolding) async throws {
        if let fault { throw fault }
        holding = next
        isUnsaved = true
        do throws(any Error) {
            try await vault.commit([AccountRecords.change(next, of: name, isPersonal: isPersonal)])
        } catch let error as VaultError where error.isOfLevel {
            lock(by: error)
            throw error
        }
        isUnsaved = false
    }

    /// Ends what is in progress. Nothing is requested or stored afterwards.
    func close() async { await flights.close() }

    /// How many callers wait for a token now, so that a test can wait for them.
    public nonisolated func waiting(scope: String) -> Int { flights.waiting(.token(Scope.words(scope))) }
}
