import Cryptography
import FoundationEssentials
import OAuth
import Vault

/// A locked session: the record of a user that is stored in place of the tokens (MAG 12.3).
struct SessionLock: Sendable, Equatable {
    let userName: String?
    let loggedInAt: Date
    let lockedAt: Date
    /// When the session ends that is locked; `nil` if that is unknown.
    let sessionEnds: Date?
    let sealed: SealedSession
    /// How often a wrong passcode was given, or the power failed while one was tried.
    var failures = 0
    /// When the last of these was.
    var lastFailure: Date?
    /// The refresh token while the gateway has not revoked it, which is its only use.
    var leftOver: SecretBytes?

    /// Whether it is of the login at that time. Storing a date loses its last bits.
    func isLogin(of date: Date) -> Bool { abs(loggedInAt.timeIntervalSince(date)) < 0.001 }

    var status: SessionLockStatus {
        SessionLockStatus(
            userName: userName, loggedInAt: loggedInAt, lockedAt: lockedAt, sessionEnds: sessionEnds,
            failures: failures, hasLeftOverToken: leftOver != nil)
    }

    /// - Parameter waited: for how many seconds people have waited at least, whatever the dates say.
    /// - Throws: ``SessionLockError/tooSoon(seconds:)`` during the wait after a wrong passcode.
    func requireDue(_ policy: UnlockPolicy, at now: Date, waited: Double) throws(SessionLockError) {
        let wait = policy.wait(failures: failures, last: lastFailure, at: now, waited: waited)
        guard wait <= 0 else { throw .tooSoon(seconds: Int(wait.rounded(.up))) }
    }
}

/// What may be known of a locked session. Contains no secrets.
public struct SessionLockStatus: Sendable, Equatable {
    /// The user whose session it is; `nil` if neither the person nor the gateway has given a name.
    public let userName: String?
    public let loggedInAt: Date
    public let lockedAt: Date
    /// When the session ends that is locked; `nil` if that is unknown.
    public let sessionEnds: Date?
    /// How often a wrong passcode was given.
    public let failures: Int
    /// Whether the gateway has not revoked the refresh token yet.
    public let hasLeftOverToken: Bool
}
