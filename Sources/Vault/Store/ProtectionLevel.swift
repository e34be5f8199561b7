/// In which states of the vault a record can be read.
public enum ProtectionLevel: String, Sendable, CaseIterable {
    /// Whenever the vault is unlocked.
    case always
    /// From the first time that the passcode was given after a start, until the agent ends or locks the whole vault.
    case firstUnlock = "first-unlock"
    /// While the passcode is open: from when it was given until the next lock.
    case unlocked

    /// Those whose records need the passcode beside the root key.
    static let behindPasscode: [ProtectionLevel] = [.firstUnlock, .unlocked]
    var isBehindPasscode: Bool { self != .always }
}
