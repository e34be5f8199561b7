public import Cryptography
import FoundationEssentials
import Groundwork

/// Setting, changing and removing the passcode: one commit each, so that a power cut leaves the old or the new one.
extension Compartment {
    /// Sets the first passcode, or one in place of the default passcode. The levels are open then.
    ///
    /// - Parameter policy: from now on; `nil` for the one that is stored.
    /// - Throws: ``VaultError``; ``PasscodeError/exists``, ``PasscodeError/refused(_:)``
    public func set(_ entered: SecretBytes, policy: PasscodePolicy? = nil) async throws(VaultError) {
        try await alone { () async throws(VaultError) in
            try await wipeRest()
            let before = try await vault.compartment()
            guard before.lock == .none || before.lock == .defaultPasscode else { throw .passcode(.exists) }
            let policy = policy ?? before.policy
            let passcode = try checked(entered, policy)
            let locks = await vault.levelLocks
            let made = try await hardware?.make()
            let key = try newKey(made?.place)
            let derived = try await key.derive(
                from: passcode, chip: made?.secret, vaultID: try await vault.vaultID)
            let now = date()
            let keys = try await commit(after: before) { state, file, seal in
                (state.lock, state.policy) = (.passcode(key, since: now), policy)
                guard before.lock != .none else { return try file.makeLevelKeys(seal, passcodeKey: derived) }
                let keys = try file.levelKeys(seal, passcodeKey: nil) ?? [:]
                try file.writeLevelKeys(keys, seal, passcodeKey: derived)
                return keys
            }
            try await open(keys, since: locks)
        }
    }

    /// Replaces the passcode. The levels are open then.
    ///
    /// - Parameter old: the passcode so far, an attempt as for ``unlock(by:)``; `nil` if it is open.
    /// - Throws: ``VaultError``; what ``unlock(by:)`` does but ``PasscodeError/expired``, ``PasscodeError/noPasscode``,
    ///   ``PasscodeError/locked``, ``PasscodeError/same``, ``PasscodeError/refused(_:)``. The old passcode is valid
    ///   then.
    public func change(from old: SecretBytes?, to entered: SecretBytes) async throws(VaultError) {
        try await alone { () async throws(VaultError) in
            try await wipeRest()
            let first = try await vault.compartment()
            guard case .passcode(let former, _) = first.lock else { throw .passcode(.noPasscode) }
            let passcode = try checked(entered, first.policy)
            let locks = await vault.levelLocks
            let (keys, before) = try await keys(from: old, to: passcode)
            var (place, chip) = (former.place, try await chipSecret(of: former))
            if old == nil {
                let same = try await former.derive(from: passcode, chip: chip, vaultID: try await vault.vaultID)
                guard try await vault.levelKeys(by: same) == nil else { throw .passcode(.same) }
            }
            if let hardware, place == nil {
                let made = try await hardware.make()
                (place, chip) = (made.place, made.secret)
            }
            let key = try newKey(place)
            let derived = try await key.derive(from: passcode, chip: chip, vaultID: try await vault.vaultID)
            let now = date()
            try await commit(after: before) { state, file, seal in
                try file.writeLevelKeys(keys, seal, passcodeKey: derived)
                state.lock = .passcode(key, since: now)
            }
            try await open(keys, since: locks)
        }
    }

    /// Changes to the default passcode: the levels are open whenever the vault is, and what is behind them is encrypted
    /// still.
    ///
    /// - Parameter old: as for ``change(from:to:)``.
    /// - Throws: ``VaultError``; ``PasscodeFault/required`` as ``PasscodeError/refused(_:)`` if the policy demands a
    ///   passcode; what ``change(from:to:)`` does.
    public func turnOff(from old: SecretBytes? = nil) async throws(VaultError) {
        try await alone { () async throws(VaultError) in
            try await wipeRest()
            let first = try await vault.compartment()
            guard first.policy.applied.isDefaultAllowed else { throw .passcode(.refused(.required)) }
            guard first.lock != .defaultPasscode else { return }
            let (former, before) = first.lock == .none ? ([:], first) : try await keys(from: old, to: nil)
            let keys = try await commit(after: before) { state, file, seal in
                state.lock = .defaultPasscode
                guard before.lock != .none else { return try file.makeLevelKeys(seal, passcodeKey: nil) }
                try file.writeLevelKeys(former, seal, passcodeKey: nil)
                return former
            }
            try await vault.openLevels(keys, since: nil)
            try await vault.protect(try await personalRecords())
            guard case .passcode(let key, _) = before.lock, let place = key.place else { return }
            try await hardware?.remove(place)
        }
    }

    /// Stores another policy, which is for the next passcode; its limits apply at once.
    ///
    /// - Throws: ``VaultError``; ``PasscodeError/locked`` while a passcode is not open.
    public func setPolicy(_ policy: PasscodePolicy) async throws(VaultError) {
        try await alone { () async throws(VaultError) in
            let before = try await vault.compartment()
            if case .passcode = before.lock, try await vault.openLevels()[.unlocked] == nil {
                throw .passcode(.locked)
            }
            try await commit(after: before) { state, _, _ in state.policy = policy }
        }
    }

    // MARK: Steps

    /// The keys of the levels, by the old passcode or because they are open.
    ///
    /// - Returns: also the state after the attempt.
    private func keys(
        from old: SecretBytes?, to new: Passcode?
    ) async throws(VaultError) -> (keys: [ProtectionLevel: LevelKey], state: CompartmentState) {
        if let old {
            let passcode = try old.passcode()
            guard passcode.secret != new?.secret else { throw .passcode(.same) }
            return try await attempt(passcode)
        }
        let keys = try await vault.openLevels()
        guard keys[.unlocked] != nil else { throw .passcode(.locked) }
        return (keys, try await vault.compartment())
    }

    private func checked(_ entered: SecretBytes, _ policy: PasscodePolicy) throws(VaultError) -> Passcode {
        try explained {
            let passcode = try Passcode(entered)
            try policy.check(passcode)
            return passcode
        }
    }

    private func newKey(_ place: SecretBytes?) throws(VaultError) -> PasscodeKey {
        try explained { try PasscodeKey.make(cost: cost, place: place) }
    }

    /// Changes the state in one commit, if it is still the one before. No other attempt was made meanwhile.
    private func commit<Result: Sendable>(
        after before: CompartmentState,
        _ change: @Sendable (inout CompartmentState, VaultFile, Seal) throws -> Result
    ) async throws(VaultError) -> Result {
        let result = try await vault.changeCompartment { state, file, seal in
            guard state == before else { throw PasscodeError.busy }
            state.tries = CountedTries()
            return try change(&state, file, seal)
        }.result
        await vault.countLater()
        try await vault.forgetFormerBytes()
        return result
    }

    /// Opens the levels, unless they were locked since an attempt began: the passcode is changed all the same.
    private func open(_ keys: [ProtectionLevel: LevelKey], since locks: Int) async throws(VaultError) {
        do throws(VaultError) {
            try await vault.openLevels(keys, since: locks)
            try await vault.protect(try await personalRecords())
        } catch .levelLocked {}
    }
}
