import Cryptography
import FoundationEssentials
import Groundwork
import OAuth
import Vault

/// Locks the session of the logged-in user, and unlocks it (MAG 12.3).
struct SessionLocks: Sendable {
    /// How long the gateway may take to revoke a token while a person waits for the lock.
    private static let patience = Duration.seconds(10)

    let store: HoldingsStore
    let initialization: ClientInitialization
    let tokens: Tokens
    let sealer = SessionSealer()
    private let wait: UnlockWait

    init(store: HoldingsStore, initialization: ClientInitialization, tokens: Tokens) {
        (self.store, self.initialization, self.tokens) = (store, initialization, tokens)
        wait = UnlockWait(since: store.clocks.uptime())
    }

    private var label: String { "latchkey session lock 1 \(store.configuration.identity.scope)" }

    // MARK: Locking

    /// Seals the session, has the refresh token revoked, and stores the one in place of the other in one commit.
    ///
    /// An unreachable gateway does not prevent it: the refresh token is then kept to be revoked later.
    ///
    /// - Parameter date: when the user logged in whose session is locked; `nil` for the current user.
    /// - Throws: ``SessionLockError``, ``GatewayError/userRequired``, `CryptographyError`, what the vault throws.
    func lock(by passcode: Passcode, loggedInAt date: Date?, in operation: borrowing Operation) async throws {
        let held = try await store.holdings()
        guard try held.lock(loggedInAt: date) == nil else { return }
        let user = try held.lockableUser(at: store.clocks.date())
        let content = SecretBytes(HoldingsDocument.content(of: user.sealable).bytes)
        let sealed = try await sealer.seal(content, with: passcode, label: label)
        killPoint("lock-sealed")
        let isRevoked = try await hasRevoked(user.tokens.refresh)
        killPoint("lock-revoked")
        var lock = SessionLock(
            userName: user.name, loggedInAt: user.loggedInAt, lockedAt: store.clocks.date(),
            sessionEnds: user.tokens.id?.expires, sealed: sealed)
        if !isRevoked { lock.leftOver = user.tokens.refresh }
        try await store.update(in: operation) { [lock] in
            $0.user = nil
            $0.lock = lock
        }
        killPoint("lock-committed")
    }

    /// - Returns: `false` if the token may still be valid at the gateway.
    private func hasRevoked(_ token: SecretBytes?) async throws -> Bool {
        guard let token else { return true }
        guard let client = try await store.holdings().client,
            !client.authentication.isExpired(at: store.clocks.date())
        else { return false }
        do {
            try await tokens.revoke(token, by: client, within: Self.patience)
        } catch GatewayError.refused(let refusal) {
            // Else the gateway does not know it, or not this client any more.
            return GatewayRefusals(operation: .revokeToken).subject(of: refusal) != .passing
        } catch is GatewayError {
            return false
        }
        return true
    }

    /// Has the refresh token revoked that the gateway has not revoked yet, if any.
    ///
    /// - Throws: ``GatewayError``; then it is kept.
    func revokeLeftOver(in operation: borrowing Operation) async throws {
        guard try await store.holdings().lock?.leftOver != nil else { return }
        try await initialization.initializeWhenDue(in: operation)
        guard try await hasRevoked(store.holdings().lock?.leftOver) else { return }
        try await store.update(in: operation) { $0.lock?.leftOver = nil }
    }

    // MARK: Unlocking

    /// Restores the session; the next call obtains tokens by the id_token. Every attempt is counted on disk before it
    /// is made, so that ending the agent gives none back.
    ///
    /// - Parameter date: when the user logged in whose session is unlocked; `nil` for whichever is locked.
    /// - Throws: ``SessionLockError``, ``GatewayError/userRequired``, `CryptographyError`, what the vault throws.
    func unlock(
        by passcode: Passcode, _ policy: UnlockPolicy, loggedInAt date: Date?, in operation: borrowing Operation
    ) async throws {
        guard let lock = try await store.holdings().lock(loggedInAt: date) else { return }
        // Without the vault's passcode, the user could not be stored in place of the lock.
        try await store.requirePersonal()
        let now = store.clocks.date()
        guard lock.failures < policy.attempts else {
            try await remove(in: operation)
            throw SessionLockError.attemptsUsedUp
        }
        try requireDue(lock, policy)
        wait.begin(at: store.clocks.uptime())
        try await store.update(in: operation) {
            $0.lock?.failures += 1
            $0.lock?.lastFailure = now
        }
        killPoint("unlock-counted")
        guard let content = try await sealer.open(lock.sealed, with: passcode, label: label),
            let user = HoldingsReader.user(in: content, at: store.clocks.now), let idToken = user.tokens.id
        else {
            let left = policy.attempts - lock.failures - 1
            guard left > 0 else {
                try await remove(in: operation)
                throw SessionLockError.attemptsUsedUp
            }
            throw SessionLockError.passcodeWrong(attemptsLeft: left)
        }
        if let end = idToken.expires, end <= now {
            try await remove(in: operation)
            throw SessionLockError.sessionEnded
        }
        try await store.update(in: operation) {
            $0.lock = nil
            $0.user = user
        }
        killPoint("unlock-committed")
    }

    /// - Throws: ``SessionLockError/tooSoon(seconds:)``
    func requireDue(_ lock: SessionLock, _ policy: UnlockPolicy) throws(SessionLockError) {
        let clocks = store.clocks
        try lock.requireDue(policy, at: clocks.date(), waited: wait.length(at: clocks.uptime()))
    }

    // MARK: Removing

    /// Gives up the locked session here; the gateway, which has revoked the tokens, is asked for nothing more.
    func remove(in operation: borrowing Operation) async throws {
        guard let lock = try await store.holdings().lock else { return }
        _ = try await hasRevoked(lock.leftOver)
        killPoint("lock-removal-begun")
        try await store.update(in: operation) { $0.lock = nil }
        killPoint("lock-removal-committed")
    }
}

extension Holdings {
    /// - Throws: ``SessionLockError/locked(userName:)`` while the user's session is locked, `VaultError.levelLocked`
    ///   while the vault's passcode is.
    func requireUnlocked() throws {
        if let lock { throw SessionLockError.locked(userName: lock.userName) }
        if let userFault { throw userFault }
    }

    /// The lock, if there is one.
    ///
    /// - Parameter date: when the user logged in whose session it has to be, locked or not; `nil` for any user.
    /// - Throws: ``SessionLockError/locked(userName:)`` if it is of another login, ``GatewayError/userRequired`` if
    ///   nothing is locked and the login has ended.
    func lock(loggedInAt date: Date?) throws -> SessionLock? {
        guard let date else { return lock }
        if let lock {
            guard lock.isLogin(of: date) else { throw SessionLockError.locked(userName: lock.userName) }
        } else if user?.isLogin(of: date) != true {
            throw GatewayError.userRequired
        }
        return lock
    }

    /// The user, if there is a session that can be locked.
    ///
    /// - Throws: ``GatewayError/userRequired``, ``SessionLockError``
    func lockableUser(at now: Date) throws -> HeldUser {
        try requireUnlocked()
        guard let user else { throw GatewayError.userRequired }
        guard let idToken = user.tokens.id else { throw SessionLockError.noIDToken }
        if let end = idToken.expires, end <= now { throw SessionLockError.noIDToken }
        return user
    }
}

extension HeldUser {
    /// What a lock seals: everything personal, and of the tokens only the id_token.
    fileprivate var sealable: HeldUser {
        var user = self
        user.tokens = HeldTokens(id: tokens.id)
        return user
    }
}
