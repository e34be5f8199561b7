import Groundwork

/// Events of the lock of a user's session (MAG 12.3).
public enum SessionLockEvent: Sendable, Equatable {
    /// The user's tokens are gone, and the session is sealed.
    case didLock(userName: String?)
    case didUnlock(userName: String?)
    case didFailToUnlock(SessionLockError)
    /// The lock is gone with the session: the user must log in again.
    case didRemove(userName: String?)

    static let meanings = [
        "gateway.session-did-fail-to-unlock": "an attempt to unlock the user's session failed",
        "gateway.session-did-lock": "the user's session is locked, and nothing works in the user's name",
        "gateway.session-did-unlock": "the user's session was unlocked",
        "gateway.session-lock-did-remove": "a locked session was given up; the user must log in again",
    ]

    var report: EventReport {
        func session(_ name: String?) -> String { "the session of \(DisplayText.clean(name ?? "a user"))" }
        return switch self {
        case .didLock(let name):
            EventReport("gateway.session-did-lock", .notable, "\(session(name)) is locked")
        case .didUnlock(let name):
            EventReport("gateway.session-did-unlock", .notable, "\(session(name)) is unlocked")
        // Not a warning: the person has got the error, and the board works.
        case .didFailToUnlock(let error):
            EventReport("gateway.session-did-fail-to-unlock", error: error, as: .notable)
        case .didRemove(let name):
            EventReport("gateway.session-lock-did-remove", .notable, "\(session(name)) was given up with its lock")
        }
    }
}
