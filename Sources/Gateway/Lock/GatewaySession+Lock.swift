public import FoundationEssentials
import Groundwork
public import Vault

/// The lock of the user's session (MAG 12.3). While it is locked, everything in the user's name is refused with
/// ``SessionLockError/locked(userName:)``, as are login and logout (MAG checklist 42); the board's own work goes on.
extension GatewaySession {
    /// - Returns: `nil` while no session is locked.
    /// - Throws: what the vault throws.
    public func lockStatus() async throws -> SessionLockStatus? { try await store.holdings().lock?.status }

    /// Whether the session of the user who logged in at `date` is locked.
    ///
    /// - Throws: ``SessionLockError/locked(userName:)`` if another user's is, ``GatewayError/userRequired`` if that login
    ///   has ended, what the vault throws.
    public func isLocked(loggedInAt date: Date) async throws -> Bool {
        try await store.holdings().lock(loggedInAt: date) != nil
    }

    /// - Throws: ``SessionLockError/locked(userName:)``, `VaultError.levelLocked` while the vault's passcode is locked,
    ///   what the vault throws.
    public func requireUnlocked() async throws { try await store.requireUnlocked() }

    /// Reads the user again after the vault's passcode was locked or unlocked, or what is behind it erased.
    ///
    /// - Throws: what the vault throws; the user is not in memory then.
    public func refreshUser() async throws { try await store.refreshUser() }

    /// Why the user who is logged in cannot be read: the vault's passcode is locked.
    ///
    /// - Throws: what the vault throws.
    public func userFault() async throws -> VaultError? { try await store.holdings().userFault }

    /// Checks that there is a session to lock, so that no passcode is asked for that could not be used.
    ///
    /// - Throws: ``GatewayError/userRequired``, ``SessionLockError/noIDToken``, what the vault throws.
    public func requireLockable() async throws {
        _ = try await store.holdings().lockableUser(at: store.clocks.date())
    }

    /// Locks the session of the logged-in user: the tokens are revoked and deleted, the id_token is sealed. A locked
    /// session stays locked by the passcode that it was locked by.
    ///
    /// - Parameter date: when the user logged in whose session is to be locked; `nil` for the current user. A person who
    ///   was asked for a passcode has chosen it for no other.
    /// - Returns: whether this call has locked it.
    /// - Throws: ``SessionLockError``, ``GatewayError/userRequired``, what the vault throws.
    public func lock(by passcode: Passcode, loggedInAt date: Date? = nil) async throws -> Bool {
        guard try await store.holdings().lock(loggedInAt: date) == nil else { return false }
        try await operations.run(.lock(operations.nextNumber())) {
            try await $0.locks.lock(by: passcode, loggedInAt: date, in: $1)
        }
        return true
    }

    /// Restores the session. If it has ended meanwhile, or the passcode was wrong too often, it is given up.
    ///
    /// - Parameter date: when the user logged in whose session is to be unlocked; `nil` for whichever is locked.
    /// - Returns: whether this call has unlocked it.
    /// - Throws: ``SessionLockError``, ``GatewayError/userRequired`` if that login has ended, what the vault throws.
    public func unlock(
        by passcode: Passcode, _ policy: UnlockPolicy = UnlockPolicy(), loggedInAt date: Date? = nil
    ) async throws -> Bool {
        guard try await store.holdings().lock(loggedInAt: date) != nil else { return false }
        do {
            try await operations.run(.unlock(operations.nextNumber())) {
                try await $0.locks.unlock(by: passcode, policy, loggedInAt: date, in: $1)
            }
        } catch let error as SessionLockError {
            events.send(.sessionLock(.didFailToUnlock(error)))
            throw error
        }
        return true
    }

    /// Checks that ``unlock(by:_:loggedInAt:)`` would try a passcode now, before a person does anything else for it.
    ///
    /// - Throws: ``SessionLockError/tooSoon(seconds:)``, what the vault throws.
    public func requireUnlockDue(_ policy: UnlockPolicy) async throws {
        guard let lock = try await store.holdings().lock else { return }
        do throws(SessionLockError) {
            try operations.parts.locks.requireDue(lock, policy)
        } catch {
            events.send(.sessionLock(.didFailToUnlock(error)))
            throw error
        }
    }

    /// Gives up a locked session; the user must log in again.
    ///
    /// - Returns: whether one was locked.
    /// - Throws: what the vault throws.
    public func removeLock() async throws -> Bool {
        guard try await lockStatus() != nil else { return false }
        try await operations.run(.removeLock) { try await $0.locks.remove(in: $1) }
        return true
    }

    /// Has the gateway revoke the refresh token that it could not revoke when the session was locked.
    ///
    /// - Throws: ``GatewayError``, what the vault throws; then it is kept.
    public func revokeLeftOverTokens() async throws {
        guard try await lockStatus()?.hasLeftOverToken == true else { return }
        try await operations.run(.revokeLeftOver) { try await $0.locks.revokeLeftOver(in: $1) }
    }
}
