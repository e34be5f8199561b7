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
/// A call prepares what it needs in order, each part only when it is missing or expires (MAG 0.2). Callers that need
/// the same part share one request for it. Changes to the registration or the tokens happen one at a time, and are in
/// the vault before they are used.
///
/// A façade with the public functions of a session. ``HoldingsStore`` has the state, ``Operations`` serializes the
/// operations, and the ``GatewayParts`` do the work.
public final class GatewaySession: Sendable {
    public var configuration: GatewayConfiguration { store.configuration }
    public var events: Broadcast<GatewayEvent> { store.events }

    let operations: Operations
    let calls: Calls
    let authorizations: Authorizations
    /// Whose token a call uses that does not say whose.
    let flow: Principal
    let userDemand: UserDemand?

    var store: HoldingsStore { operations.parts.store }
    var exchange: GatewayExchange { operations.parts.exchange }

    /// - Parameters:
    ///   - hosts: hosts other than the gateway that may be called (MAG 1.3).
    ///   - nameCheck: how the gateway's certificate must name it.
    ///   - renewDays: how many days before its expiry the certificate is renewed (MAG 4.6).
    ///   - flow: whose token a call uses that does not say whose (MAG 6.2).
    ///   - userDemand: asks for a login when a call needs a user; `nil` if such a call fails.
    ///   - options: what else the settings and people want of it.
    ///   - geolocation: what calls may say of where the board is.
    ///   - passwordAsker: asks for one-time passwords that called APIs demand; `nil` if no user is asked.
    ///   - handlers: answer what else called APIs demand (MAG 6.6).
    ///   - clock: the best known time.
    ///   - uptime: time since any fixed moment, by a monotonic clock.
    public init(
        configuration: GatewayConfiguration, vault: Vault, client: HTTPClient, board: DeviceDescription,
        hosts: HostList = HostList(), nameCheck: ServerTrust.NameCheck = .strict, renewDays: Int = 30,
        flow: Principal = .board, userDemand: UserDemand? = nil, options: SessionOptions = SessionOptions(),
        geolocation: Geolocation = Geolocation(), passwordAsker: (any OneTimePasswordAsker)? = nil,
        handlers: [any MultiFactorHandler] = [],
        clock: @escaping @Sendable () -> Date = { Date() },
        uptime: @escaping @Sendable () -> Duration = GatewaySession.systemUptime
    ) {
        let store = HoldingsStore(
            configuration: configuration, vault: vault, keyChoice: options.keyChoice,
            clocks: SessionClocks(date: clock, uptime: uptime))
        operations = Operations(
            GatewayParts(
                store: store,
                exchange: GatewayExchange(
                    store: store, client: client, hosts: hosts, nameCheck: nameCheck, options: options),
                board: board, renewalWindow: TimeInterval(renewDays) * 86_400))
        let passwords = OneTimePasswords(
            asker: passwordAsker, path: configuration.path(of: .oneTimePassword), clocks: store.clocks)
        calls = Calls(
            operations: operations, factors: MultiFactor(handlers: [passwords] + handlers), geolocation: geolocation)
        (self.flow, self.userDemand) = (flow, userDemand)
        authorizations = Authorizations(operations: operations, calls: calls)
    }

    private static let start = ContinuousClock.now
    /// Continues while the board sleeps.
    public static let systemUptime: @Sendable () -> Duration = { start.duration(to: .now) }

    /// Ends the session: its operations are canceled and have ended when this returns, and everything that would change
    /// what is stored of the gateway throws `CancellationError` afterwards.
    ///
    /// Call it before there is another session of the same gateway, or before its records are removed.
    public func close() async {
        await operations.close()
        await calls.factors.close()
    }

    /// Tries again at the next use what was put off because the gateway could not be reached.
    public func networkDidChange() { operations.parts.renewal.networkDidChange() }

    /// Whether ``close()`` was called.
    public var isClosed: Bool { operations.isClosed }

    /// Whether the session was made to send nothing (``SessionOptions/isStopped``).
    public var isStopped: Bool { exchange.options.isStopped }

    /// Downloads the keys with which the gateway signs id_tokens, so that the first login need not wait for them (MAG
    /// 5.5).
    ///
    /// - Throws: ``GatewayError``, `CancellationError`
    public func preloadKeys() async throws { try await operations.parts.idTokens.preload() }

    // MARK: Registration

    /// Renews now, whatever the certificate's dates.
    ///
    /// - Throws: ``GatewayError``. After ``GatewayError/refused(_:)`` the registration is gone (MAG checklist 19);
    ///   after any other error the old certificate stays in use.
    public func renew() async throws {
        try await noted(.renew) { try await $0.renewal.renew(in: $1) }
    }

    /// Removes the device at the gateway, then here (MAG 12.4, deregister). Unless the gateway answers 200, everything
    /// is kept (MAG checklist 44).
    ///
    /// - Throws: ``GatewayError``; ``GatewayError/notRegistered`` when there is nothing to remove.
    public func deregister() async throws {
        try await noted(.deregister) { try await $0.registration.remove(in: $1) }
    }

    /// Removes everything of this gateway here except its configuration (MAG 12.4, local reset). The gateway is not
    /// notified, so the next registration has a new device identifier.
    public func reset() async throws {
        try await operations.run(.reset) { try await $0.registration.reset(in: $1) }
    }

    // MARK: Tokens

    /// Obtains everything that a protected call needs: client credentials, registration, certificate, access token. So
    /// this registers a new board. One that waits for a person does so until the person activates the gateway again
    /// (``Gateways/activate(_:as:registers:byDocument:)``), or logs in.
    ///
    /// - Parameter scope: scopes needed beyond the configured ones, separated by blanks.
    /// - Throws: ``GatewayError``, what the vault throws, or `CancellationError`.
    public func ready(scope: String? = nil) async throws { try await operations.ready(for: Need(scope: scope)) }

    /// A valid access token of the board's own.
    /// - Parameter scope: scopes needed beyond the configured ones, separated by blanks.
    public func accessToken(scope: String? = nil) async throws -> AccessToken {
        try await ready(scope: scope)
        guard let token = try await store.holdings().board.access else { throw GatewayError.noGrantApplies }
        return token.token(at: store.clocks.date(), uptime: store.clocks.uptime())
    }

    /// Drops the access token after a server refused it; the next use obtains another. The refresh token stays.
    public func dropAccessToken() async throws {
        try await operations.recover(.dropAccessToken, of: .board, since: store.state().revision)
    }

    /// Ends the access token: at the gateway if there is a refresh token to identify it, then here (MAG 5.8).
    public func revokeTokens() async throws {
        try await noted(.revoke) { try await $0.tokens.revoke(in: $1) }
    }

    /// Runs an operation whose failure should appear in the status.
    private func noted(
        _ key: OperationKey,
        _ work: @escaping @Sendable (_ parts: GatewayParts, _ operation: borrowing Operation) async throws -> Void
    ) async throws {
        try await exchange.contacts.noting(by: store.clocks) { try await operations.run(key, work) }
    }

    // MARK: Calls

    /// Calls an API of the gateway or of a configured host, with everything it needs: access token, device identifier,
    /// client certificate. Recovers from refusals if possible and repeats the call, at most ``Recovery/attempts``
    /// attempts in all.
    ///
    /// - Parameters:
    ///   - path: a path below the gateway that begins with `/`, or an absolute `https` URL of a configured host. A
    ///     public host gets none of our credentials (MAG checklist 31).
    ///   - scope: scopes needed beyond the configured ones, separated by blanks.
    ///   - principal: whose token is used; `nil` for the session's usual one. A user's call fails with
    ///     ``GatewayError/userRequired`` when no user is logged in, unless one logs in on demand.
    ///   - date: when the user logged in; `nil` for the user who is logged in when the call begins. However often the
    ///     call is repeated, it never uses the token of a user who logged in later.
    /// - Returns: the API's own answer, also when its status is not a success.
    /// - Throws: ``GatewayError`` when there was no answer, or one that is about this client, device or token.
    public func call(
        method: String, path: String, headers: HTTPHeaders = [:], body: [UInt8]? = nil, scope: String? = nil,
        as principal: Principal? = nil, loggedInAt date: Date? = nil
    ) async throws -> HTTPResponse {
        let need = Need(principal: principal ?? flow, scope: scope)
        return try await demandingUser(for: need, loggedInAt: date) {
            try await calls.call(method, path, headers: headers, body: body, for: need, loggedInAt: date)
        }
    }

    /// Makes a call with all that a caller may set. No user is asked to log in for it: ``acting(as:loggedInAt:_:)``
    /// does that.
    public func call(_ call: APICall) async throws -> HTTPResponse { try await calls.call(call) }

    /// Makes a call, and returns as soon as the head of a successful answer is there; the body follows in pieces. The
    /// body of any other answer is in it.
    public func open(_ call: APICall) async throws -> CallAnswer { try await calls.open(call) }

    /// The identity to offer to a server that asks for a client certificate; `nil` before the registration.
    public func identity() async throws -> TLSIdentity? { try await store.holdings().identity }

    /// How a host must prove its identity, on any port: the gateway's broker has the same certificate authority.
    ///
    /// - Throws: ``GatewayError/hostNotConfigured(host:)``
    public func trust(for host: String) throws(GatewayError) -> ServerTrust { try exchange.trust(for: host) }
}
