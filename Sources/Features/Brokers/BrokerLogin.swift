import AgentCore
import AgentMessages
import Cryptography
import FoundationEssentials
import Groundwork
import Messaging
import Synchronization
import Vault

/// Logs in at the broker of an account: obtains what each connection needs.
package final class BrokerLogin: Sendable {
    package let account: BrokerAccount
    private let host: Host
    /// How the broker is reached.
    package var way: BrokerWaySettings { account.isPreset ? account.way : host.settings.broker.way }

    private let state = Mutex(State())

    private struct State {
        /// Whether the broker has refused the token that it got last.
        var isRefused = false
        var tokenEnds: ContinuousClock.Instant?
    }

    package init(_ account: BrokerAccount, _ host: Host) {
        self.account = account
        self.host = host
    }

    /// How long a token is to be valid when a connection begins with it, where its server gives such long ones.
    private static let tokenLife = Duration.seconds(60)
    /// So long that no token is: one that was refused is replaced.
    private static let century = Duration.seconds(3_155_760_000)

    /// The token that the newest connection began with was refused.
    package func tokenWasRefused() { state.withLock { $0.isRefused = true } }

    /// How long the token of the newest connection is still valid; `nil` without one, or if nothing says so.
    package var tokenLifeLeft: Duration? { state.withLock { $0.tokenEnds.map { $0 - .now } } }

    /// - Throws: ``BrokerError``, `CryptographyError`, what the vault throws, why there is no token
    package func credentials(at broker: BrokerAddress) async throws -> BrokerCredentials {
        try account.credentials(
            at: broker, identity: try await identity(), password: try await password(),
            judgedAt: { [host] in host.time.now })
    }

    private func identity() async throws -> TLSIdentity? {
        guard let identity = account.identity else { return nil }
        let keys = host.vault.keys(of: BrokerAccount.scope(of: account.name))
        guard let key = try await keys.key(identity.key) else { throw BrokerError.recordInvalid(account.name) }
        return TLSIdentity(key: key, chain: identity.chain)
    }

    private func password() async throws -> SecretBytes? {
        switch account.secret {
        case .none: return nil
        case .sealed(let password): return password
        case .file(let path): return try SecretFile.password(in: path)
        case .token(let account, let scope):
            let tokens = try await host.accounts.ability(\.tokens, of: account)
            let isRefused = state.withLock { $0.isRefused }
            let token = try await tokens.ownToken(
                scope: scope, lasting: isRefused ? Self.century : Self.tokenLife, at: account)
            state.withLock { state in
                state = State(tokenEnds: token.lifeLeft.map { .now + $0 })
            }
            return token.value
        }
    }
}

extension BrokerAccount {
    /// What a connection begins with.
    ///
    /// - Throws: `CryptographyError`
    func credentials(
        at broker: BrokerAddress, identity: TLSIdentity?, password: SecretBytes?,
        judgedAt: @escaping @Sendable () -> Date
    ) throws -> BrokerCredentials {
        let context = try tls.map { tls in
            try TLSContext(
                trust: tls.security.trust(of: broker.certifiedHost, judgedAt: judgedAt), identity: identity,
                applicationProtocol: tls.alpn.isEmpty ? nil : tls.alpn)
        }
        return BrokerCredentials(
            clientID: clientID.isEmpty ? "latchkey-\(String(UInt64.random(in: .min ... .max), radix: 16))" : clientID,
            userName: userName.isEmpty ? nil : userName, password: password, tls: context)
    }
}
