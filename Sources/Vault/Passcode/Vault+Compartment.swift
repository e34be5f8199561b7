import Cryptography
import Groundwork
import Storage

/// What the passcode changes in the vault, each in one commit.
extension Vault {
    /// - Throws: ``VaultError``, such as ``PasscodeError/tampered`` for a state that cannot be read.
    func compartment() throws(VaultError) -> CompartmentState {
        let unsealed = try access()
        return try explained {
            try unsealed.file.database.snapshot { try compartment(in: try root(unsealed), unsealed) }
        }
    }

    private func compartment(in root: ManifestRoot, _ unsealed: Unsealed) throws -> CompartmentState {
        do {
            guard let record = try read(Compartment.record, root, unsealed) else { return CompartmentState() }
            guard record.kind == .passcode, let state = CompartmentState(decoding: record.content.exposed()) else {
                throw PasscodeError.tampered
            }
            return state
        } catch let error as VaultError where error.isOfRecord {
            throw PasscodeError.tampered
        }
    }

    /// Changes the state, and what belongs to it in the file, in one commit.
    ///
    /// - Parameters:
    ///   - counting: whether no earlier state may take its place; the caller has the counter follow.
    ///   - change: works within the transaction, on the state that it finds.
    /// - Returns: the new state, and what `change` returns.
    func changeCompartment<Result: Sendable>(
        counting: Bool = true, _ change: @Sendable (inout CompartmentState, VaultFile, Seal) throws -> Result
    ) throws(VaultError) -> (state: CompartmentState, result: Result) {
        var (state, result, isWritten) = (CompartmentState(), Result?.none, false)
        try write(
            counting: counting,
            after: { root, unsealed in
                state = try compartment(in: root, unsealed)
                result = try change(&state, unsealed.file, unsealed.seal)
            },
            {
                defer { isWritten = true }
                let content = SecretBytes(state.encoded())
                return isWritten ? nil : .put(Compartment.record, .passcode, content)
            })
        // The form that is read: stored dates lose their last bits.
        guard let result, let stored = CompartmentState(decoding: state.encoded()) else { throw .passcode(.tampered) }
        return (stored, result)
    }

    /// Removes the records behind the passcode, the rest of their keys and the passcode, in one commit.
    ///
    /// - Parameter outside: more records to remove, which may not be behind it yet.
    func removeWiped(_ outside: [RecordName]) throws(VaultError) {
        var changes = outside.map(Change.remove)
        try write(
            counting: true,
            after: { root, unsealed in
                var state = try compartment(in: root, unsealed)
                guard case .wiping = state.lock else { throw PasscodeError.tampered }
                (state.lock, state.tries) = (.none, CountedTries())
                let keys = try unsealed.file.levelKeyIDs()
                for page in root.pages {
                    let entries = try unsealed.file.page(page, unsealed.seal).entries
                    changes += entries.filter { keys.contains($0.value.key) }
                        .map { .remove(RecordName(scope: page.scope, name: $0.key)) }
                }
                changes.append(.put(Compartment.record, .passcode, SecretBytes(state.encoded())))
                try unsealed.file.removeLevelKeys()
            }, { changes.popLast() })
        countLater()
        try forgetFormerBytes()
    }

    /// Puts those of these records behind the passcode that are not yet, in one commit. One that is damaged is left
    /// alone.
    func protect(_ names: [RecordName]) throws(VaultError) {
        let unsealed = try access()
        var (root, rest) = try explained { try unsealed.file.database.snapshot { try outside(names, unsealed) } }
        guard !rest.isEmpty else { return }
        try write {
            while let name = rest.popLast() {
                do {
                    guard let record = try readInPlace(name, root, unsealed) else { continue }
                    return .put(name, record.kind, record.content, level: .unlocked)
                } catch let error as VaultError where error.isOfRecord {
                    continue
                }
            }
            return nil
        }
        try forgetFormerBytes()
    }

    private func outside(
        _ names: [RecordName], _ unsealed: Unsealed
    ) throws -> (root: ManifestRoot, names: [RecordName]) {
        let (root, levels) = (try root(unsealed), try unsealed.file.levelKeyIDs())
        let found = try names.filter { name in
            guard let place = root.place(of: name) else { return false }
            let entry = try unsealed.file.page(root.pages[place], unsealed.seal).entries[name.name]
            return entry.map { !levels.contains($0.key) } ?? false
        }
        return (root, found)
    }

    /// Removes from the file's log what commits have overwritten in the file.
    func forgetFormerBytes() throws(VaultError) {
        let unsealed = try access()
        try explained { try unsealed.file.database.checkpoint() }
    }

    /// Checks that records of persons can be read and written.
    ///
    /// - Throws: ``VaultError/levelLocked(path:level:)`` while the passcode is locked
    public func requirePersonal() throws(VaultError) {
        let unsealed = try access()
        guard unsealed.seal.levelKeys[.unlocked] == nil else { return }
        let hasLevels = try explained {
            try unsealed.file.database.snapshot { try !unsealed.file.levelKeyIDs().isEmpty }
        }
        if hasLevels { throw .levelLocked(path: path, level: .unlocked) }
    }

    // MARK: Level keys

    /// Tries to open the levels by the key of a passcode; nothing is open yet.
    ///
    /// - Returns: `nil` if the passcode is wrong.
    func levelKeys(by passcodeKey: SecretBytes?) throws(VaultError) -> [ProtectionLevel: LevelKey]? {
        let unsealed = try access()
        return try explained {
            try unsealed.file.database.snapshot { try unsealed.file.levelKeys(unsealed.seal, passcodeKey: passcodeKey) }
        }
    }

    /// - Throws: ``PasscodeError/tampered``
    func checkLevelKeys(isSet: Bool) throws(VaultError) {
        let unsealed = try access()
        try explained {
            try unsealed.file.database.snapshot { try unsealed.file.checkLevelKeys(unsealed.seal, isSet: isSet) }
        }
    }

    /// Opens the levels.
    ///
    /// - Parameter locks: ``levelLocks`` when the attempt began; `nil` to open them whatever came in between.
    /// - Throws: ``VaultError/levelLocked(path:level:)`` if they were locked since.
    func openLevels(_ keys: [ProtectionLevel: LevelKey], since locks: Int?) throws(VaultError) {
        let unsealed = try access()
        guard locks ?? levelLocks == levelLocks else { throw .levelLocked(path: path, level: .unlocked) }
        var seal = unsealed.seal
        seal.levelKeys = keys
        noteReplaced(Unsealed(file: unsealed.file, seal: seal, openedBy: unsealed.openedBy))
    }

    /// Locks a level, or all; its key is wiped from memory.
    func lockLevels(_ levels: [ProtectionLevel]) {
        noteLevelsLocked()
        guard case .success(let unsealed) = Result(catching: { try access() }) else { return }
        var seal = unsealed.seal
        for level in levels { seal.levelKeys[level] = nil }
        noteReplaced(Unsealed(file: unsealed.file, seal: seal, openedBy: unsealed.openedBy))
    }

    func openLevels() throws(VaultError) -> [ProtectionLevel: LevelKey] { try access().seal.levelKeys }

    /// The level keys that the root key alone opens. None if there is a passcode, whatever the file has of its keys,
    /// and none if the state or the keys are damaged: what is behind them stays locked then, and the rest can be used.
    func defaultLevelKeys(_ root: ManifestRoot, _ unsealed: Unsealed) throws -> [ProtectionLevel: LevelKey] {
        do {
            guard try compartment(in: root, unsealed).lock == .defaultPasscode else { return [:] }
            return try unsealed.file.levelKeys(unsealed.seal, passcodeKey: nil) ?? [:]
        } catch PasscodeError.tampered {
            return [:]
        }
    }

    var vaultID: [UInt8] { get throws(VaultError) { try access().seal.vaultID } }
}
