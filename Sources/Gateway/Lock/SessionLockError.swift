public import Groundwork

/// Why a session cannot be locked or unlocked, or why something does not work while it is locked. The numbers are those
/// of MAG 13.4 and 9.5, of the public client that has session locks.
public enum SessionLockError: Explained, Equatable {
    /// The session is locked; it cannot be used, ended or replaced by another.
    case locked(userName: String?)
    /// The session is locked, so the user has no connection at the broker.
    case messagesLocked
    /// The user has no session that could be locked: no id_token.
    case noIDToken
    /// A press of the board's button is required, and there is no button.
    case noButton
    /// The button was not pressed in time.
    case buttonNotPressed
    /// The button was held for long, or pressed twice.
    case buttonRefused
    /// The button was pressed while a device nearby asked for consent too.
    case buttonAmbiguous
    /// Another request waits for a press of the button already.
    case buttonBusy
    case passcodeInvalid
    /// The new passcode and its repetition differ.
    case passcodesDiffer
    case passcodeWrong(attemptsLeft: Int)
    /// The last attempt was wrong: the lock is removed, and the session with it.
    case attemptsUsedUp
    /// The next attempt may be made after this many seconds.
    case tooSoon(seconds: Int)
    /// The session ended while it was locked: the lock is removed.
    case sessionEnded

    public var explanation: Explanation {
        switch self {
        case .locked(let userName):
            Explanation(
                "lock.session-locked", .conflict,
                "the session of \(DisplayText.clean(userName ?? "the user")) is locked", remedy: Self.unlock,
                gateway: .local(130_008))
        case .messagesLocked:
            Explanation(
                "lock.messages-locked", .conflict, "the session is locked, so there is no connection of the user",
                remedy: Self.unlock, gateway: GatewayNumbers(.messaging, 530_008))
        case .noIDToken:
            Explanation(
                "lock.no-id-token", .conflict, "the user's login has no session at the gateway that could be locked",
                remedy: "end the login: latchkey logout", gateway: .local(130_106))
        case .noButton:
            Explanation(
                "lock.no-button", .unavailable, "unlocking requires a press of the board's button, and there is none",
                remedy: "name a button in the board definition, or set needs_button of [lock] to false",
                gateway: .local(120_009))
        case .buttonNotPressed:
            Explanation(
                "lock.button-not-pressed", .denied, "the board's button was not pressed in time",
                remedy: "try again, and press it when asked")
        case .buttonRefused:
            Explanation(
                "lock.button-refused", .denied, "the board's button was held for long or pressed twice, which refuses",
                remedy: "try again, and press it once, for less than a second")
        case .buttonAmbiguous:
            Explanation(
                "lock.button-ambiguous", .denied,
                "the board's button was pressed while a device nearby asked for consent, so the press counts for neither",
                remedy: "see who asks: latchkey consent; answer that, and try again")
        case .buttonBusy:
            Explanation(
                "lock.button-busy", .busy, "another request to unlock a session waits for a press of the button",
                remedy: "try again later")
        case .passcodeInvalid:
            Explanation(
                "lock.passcode-invalid", .invalidInput,
                "a passcode has \(Passcode.length.lowerBound) to \(Passcode.length.upperBound) bytes")
        case .passcodesDiffer: Explanation("lock.passcodes-differ", .invalidInput, "the two passcodes differ")
        case .passcodeWrong(let left):
            Explanation(
                "lock.passcode-wrong", .denied,
                "the passcode is wrong; \(left) \(left == 1 ? "attempt is" : "attempts are") left",
                remedy: "after the last one the user must log in again")
        case .attemptsUsedUp:
            Explanation(
                "lock.attempts-used-up", .denied, "the passcode was wrong too often, and the session is gone",
                remedy: "log in: latchkey login")
        case .tooSoon(let seconds):
            Explanation(
                "lock.too-soon", .tooMany,
                "the next attempt may be made in \(seconds) \(seconds == 1 ? "second" : "seconds")",
                remedy: "wait; each wrong passcode doubles the time")
        case .sessionEnded:
            Explanation(
                "lock.session-ended", .conflict, "the session ended while it was locked",
                remedy: "log in: latchkey login", gateway: .local(130_102))
        }
    }

    private static let unlock = "unlock it: latchkey unlock; or give it up: latchkey lock --remove"

    public static let examples: [SessionLockError] = [
        .locked(userName: "NAME"), .messagesLocked, .noIDToken, .noButton, .buttonNotPressed, .buttonRefused,
        .buttonAmbiguous, .buttonBusy, .passcodeInvalid, .passcodesDiffer, .passcodeWrong(attemptsLeft: 2),
        .attemptsUsedUp, .tooSoon(seconds: 30),
        .sessionEnded,
    ]
}

/// The numbers for a request that changed nothing, as the session was in that state already (MAG 13.4).
public enum SessionLockNumber {
    public static let alreadyLocked = GatewayNumbers.local(130_006)
    public static let alreadyUnlocked = GatewayNumbers.local(130_007)
}
