public import FoundationEssentials

/// What may be known of the passcode. Contains no secrets.
public struct PasscodeStatus: Sendable, Equatable {
    public enum State: String, Sendable, CaseIterable {
        /// There are no levels behind a passcode.
        case none
        /// The default passcode: the levels are open whenever the vault is.
        case `default`
        case set
        /// The levels are being erased.
        case wiping
    }

    public let state: State
    public let policy: PasscodePolicy
    /// The levels behind the passcode that are open.
    public let open: Set<ProtectionLevel>
    /// How many attempts were wrong or cut off since one was right.
    public let failures: Int
    /// `nil` without a limit.
    public let triesLeft: Int?
    /// Seconds until the next attempt can be made.
    public let waitSeconds: Int
    /// When the passcode expires; `nil` for never.
    public let expires: Date?
    /// Whether the passcode has a half that a chip has. Without one, it can be guessed with a copy of the disk and the
    /// key of a slot.
    public let hasHardware: Bool
}

extension Compartment {
    /// - Throws: ``VaultError``
    public func status() async throws(VaultError) -> PasscodeStatus {
        let state = try await vault.compartment()
        let (kind, expires, hasHardware): (PasscodeStatus.State, Date?, Bool) =
            switch state.lock {
            case .none: (.none, nil, false)
            case .defaultPasscode: (.default, nil, false)
            case .passcode(let key, let since): (.set, state.policy.expiry(since: since), key.place != nil)
            case .wiping(let place): (.wiping, nil, place != nil)
            }
        return PasscodeStatus(
            state: kind, policy: state.policy, open: Set(try await vault.openLevels().keys),
            failures: state.tries.failures, triesLeft: state.tries.left(state.policy),
            waitSeconds: Int(wait(state.tries).rounded(.up)), expires: expires, hasHardware: hasHardware)
    }
}
