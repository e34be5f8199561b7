import Cryptography
import FoundationEssentials
import Groundwork
import HTTPClient
import OAuth
import Vault

/// This board at one gateway: its client credentials, registration and tokens, and calls that use them.
///
///     let session = GatewaySession(configuration: configuration, vault: vault, client: client, board: board)
///     let response = try await session.call(method: "GET", path: "/lab/hello")
///
/// What a call needs is brought about in order, each part only when it is missing or ends (MAG 0.2). However many
/// callers need the same, it is asked for once; what changes the registration or the tokens happens one at a time, and is in the
/// vault before it is used.
public actor GatewaySession {
    public nonisolated let configuration: GatewayConfiguration
    public nonisolated let events = Broadcast<GatewayEvent>()

    let vault: Vault
    nonisolated let client: HTTPClient
    let board: DeviceDescription
    nonisolated let hosts: [HostSecurity]
    nonisolated let clock: @Sendable () -> Date
    nonisolated let uptime: @Sendable () -> Duration
    /// How long before its end the certificate is renewed, in seconds.
    let renewalWindow: TimeInterval
    nonisolated let operations = SingleFlight<Operation>()

    /// `nil` until first read from the vault.
    private var loaded: Holdings?
    /// Rises with every change, so that a recovery can see whether somebody else has recovered already.
    private(set) var revision = 0
    private var lastLogIn = 0
    var publishedKeys: KeySet?
    /// What the gateway's authorization URLs look like, and when that was learned, by ``uptime``.
    var providerForm: (form: ProviderForm, at: Duration)?
    var renewalPause = Backoff(initial: .seconds(60), cap: .seconds(6 * 3600))
    /// No renewal by the agent itself before this ``uptime``.
    var renewalNotBefore: Duration?
    private var lastContact: Date?
    private var lastFailure: GatewayStatus.Failure?

    /// What is done at most once at a time.
    enum Operation: Hashable {
        case establish(scope: String?, Principal)
        case recover(Recovery, Principal, revision: Int)
        case register, renew, deregister, reset, revoke, initialize
        /// Each is its own: two people may log in one after the other.
        case logIn(Int)
        case name(Int)
        case logOut(force: Bool)
    }

    /// - Parameters:
    ///   - hosts: hosts beside the gateway that may be called (MAG 1.3).
    ///   - renewDays: how many days before its end the certificate is renewed (MAG 4.6).
    ///   - clock: the best known time.
    ///   - uptime: time since any fixed moment, by a clock that nobody sets.
    public init(
        configuration: GatewayConfiguration, vault: Vault, client: HTTPClient, board: DeviceDescription,
        hosts: [HostSecurity] = [], renewDays: Int = 30, clock: @escaping @Sendable () -> Date = { Date() },
        uptime: @escaping @Sendable () -> Duration = GatewaySession.systemUptime
    ) {
        self.configuration = configuration
        self.vault = vault
        self.client = client
        self.board = board
        self.hosts = hosts
        renewalWindow = TimeInterval(renewDays) * 86_400
        self.clock = clock
        self.uptime = uptime
    }

    private static let start = ContinuousClock.now
    /// Goes on while the board sleeps.
    public static let systemUptime: @Sendable () -> Duration = { start.duration(to: .now) }

    // MARK: What it holds

    /// - Throws: ``GatewayError/deviceRecordInvalid(reason:)``, or what the vault throws.
    func holdings() async throws -> Holdings {
        if let loaded { return loaded }
        let scope = configuration.identity.scope
        let stored = try await HoldingsReader.load(vault, scope: scope).holdings(at: clock(), uptime: uptime())
        var adopted = stored
        adopted.adopt(configuration)
        try await vault.commit(try HoldingsChanges(from: stored, to: adopted, scope: scope).changes)
        // Another caller may have come here first and gone on.
        if let loaded { return loaded }
        loaded = adopted
        return adopted
    }

    /// Puts a new state on disk, then in use. Only those of ``operations`` do, one at a time.
    func commit(_ next: Holdings) async throws {
        let current = try await holdings()
        try await vault.commit(
            try HoldingsChanges(from: current, to: next, scope: configuration.identity.scope).changes)
        replace(current, by: next)
    }

    private func replace(_ current: Holdings, by next: Holdings) {
        loaded = next
        revision += 1
        if let user = current.user, next.user == nil { events.send(.userDidLogout(userName: user.name)) }
    }

    /// A number for a log-in.
    func nextLogIn() -> Int {
        lastLogIn += 1
        return lastLogIn
    }

    /// Removes everything, also what cannot be read.
    func removeAllRecords(rest: RegistrationRest) async throws {
        let scope = configuration.identity.scope
        let removals = HoldingsRecord.allCases.map { Change.remove(RecordName(scope: scope, name: $0.rawValue)) }
        var left = Holdings(rest: rest)
        left.adopt(configuration)
        try await vault.commit(removals + HoldingsChanges(from: Holdings(), to: left, scope: scope).changes)
        replace(loaded ?? Holdings(), by: left)
    }

    // MARK: How it stands

    func noteContact() { lastContact = clock() }

    /// Runs something whose failure is worth showing in the status, and whose success ends that.
    func noted<Value>(_ work: () async throws -> Value) async throws -> Value {
        do {
            let value = try await work()
            lastFailure = nil
            return value
        } catch {
            // That nobody is logged in says nothing of the board and its gateway.
            if let error = error as? GatewayError, error != .userRequired {
                lastFailure = .init(error: error, at: clock())
            }
            throw error
        }
    }

    func noteFailure(_ error: GatewayError) { lastFailure = .init(error: error, at: clock()) }

    /// - Throws: what the vault throws.
    public func status() async throws -> GatewayStatus {
        let holdings = try await holdings()
        let now = clock()
        return GatewayStatus(
            gateway: configuration.identity, masterClientID: configuration.masterClientID,
            registration: holdings.device.map { $0.isActive ? .registered : .pending } ?? .unregistered,
            deviceID: holdings.deviceID, magIdentifier: holdings.device?.magIdentifier,
            certificate: holdings.device.map { .init($0.leaf, at: now) },
            client: holdings.client.map { client in
                .init(clientID: client.id, expiresAt: client.authentication.expires, isStatic: client.isStatic)
            },
            token: tokenStatus(holdings[.board]), hasIDToken: holdings.tokens.id != nil,
            user: holdings.user.map(status), lastContact: lastContact, lastFailure: lastFailure)
    }

    private func tokenStatus(_ tokens: HeldTokens) -> GatewayStatus.Token? {
        guard let token = tokens.access, token.isValid(at: uptime()) else { return nil }
        return .init(
            receivedAt: token.receivedAt, expiresAt: token.token(at: clock(), uptime: uptime()).expiresAt,
            scope: token.scope,
            hasRefreshToken: tokens.refresh != nil)
    }

    func status(_ user: HeldUser) -> UserStatus {
        UserStatus(
            userName: user.name, loggedInAt: user.loggedInAt, hasIDToken: user.tokens.id != nil,
            idTokenExpiresAt: user.tokens.id?.expires, token: tokenStatus(user.tokens))
    }

    /// What to offer where a server asks for a client certificate; `nil` before the registration.
    public func identity() async throws -> TLSIdentity? { try await holdings().device?.identity }

    /// What a host must prove, also on another port than the gateway's: its broker has the same certificate authority.
    ///
    /// - Throws: ``GatewayError/hostNotConfigured(host:)``
    public nonisolated func trust(for host: String) throws(GatewayError) -> ServerTrust {
        let host = host.lowercased()
        guard let security = try securities.first(where: { $0.host == host }) else {
            throw .hostNotConfigured(host: host)
        }
        return trust(security)
    }
}

extension GatewayStatus.Certificate {
    init(_ certificate: Certificate, at now: Date) {
        self.init(
            notBefore: certificate.notBefore, notAfter: certificate.notAfter, serialNumber: certificate.serialNumber,
            daysLeft: Int((certificate.notAfter.timeIntervalSince(now) / 86_400).rounded(.down)))
    }
}
