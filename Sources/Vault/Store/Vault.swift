import Cryptography
import Groundwork
import Storage

/// The sealed store of the board: private keys, certificates, tokens and configurations.
///
/// Data keys seal the records, and a random root key wraps the data keys. The file contains the root key once for each
/// slot, wrapped with that slot's key: a systemd credential, a passphrase, a development key file. The data keys of
/// some levels (``ProtectionLevel``) need a passcode, too, see ``Compartment``. A commit of several changes is atomic,
/// and on disk when it returns.
///
///     let vault = try await Vault.open(
///         at: "/var/lib/latchkey/vault.db", with: [SystemdCredential(name: "vault-key")], creating: true)
///     let made = try await vault.keys(of: scope).make(.p256, label: "device")
///     try await vault.commit([.put(RecordName(scope: scope, name: "token"), .token, token)])
///
/// The vault detects a changed byte, swapped records, and a single record that was rolled back, added or removed; and
/// a rollback of the whole file while the agent is stopped, if a counter in a TPM guards it
/// (``guardAgainstRollback(by:)``).
///
/// Runs on ``NamedThread/storage``, including disk syncs, never on the cooperative pool. Keys of slots are derived on
/// ``NamedThread/keys`` meanwhile: other calls go on.
public actor Vault {
    public nonisolated var unownedExecutor: UnownedSerialExecutor { NamedThread.storage.asUnownedSerialExecutor() }

    public nonisolated let path: String
    /// Where keys can be that are not in the vault.
    nonisolated let keepers: [KeyReference.Keeper: any KeyKeeper]

    /// The state that only an unlocked vault has.
    struct Unsealed {
        let file: VaultFile
        let seal: Seal
        let openedBy: Slot
    }
    /// `nil` before the vault is opened and after it is closed.
    private var file: VaultFile?
    /// `nil` while the vault is locked or closed. It has the only reference to the root key, which is wiped with it.
    private var unsealed: Unsealed?
    /// The newest generation that this process has seen, even if the vault was locked since.
    private var generation: Int64 = 0
    /// The root of the list of records, as it was read or written last.
    private var root: ManifestRoot?
    /// Held by calls that wait for the key of a slot: one after the other, in the order of their calls.
    let keyTurn = AsyncMutex()
    /// How often ``lock()`` and ``close()`` were called.
    private var endings = 0
    /// `nil` while nothing guards the file against being put back.
    var guarding: RollbackGuard?
    /// Held by calls that wait for the counter.
    let anchorTurn = AsyncMutex()
    /// How often levels behind the passcode were locked, alone or with the vault.
    private(set) var levelLocks = 0

    /// Sends every change of ``state``; the subscriptions end when the vault is closed.
    public nonisolated let states = Broadcast<State>()

    /// A vault that is not open yet: until ``unseal(with:creating:)`` has opened it, its functions throw
    /// ``VaultError/closed(path:)``.
    ///
    /// - Parameter keepers: those of keys in hardware, for their records.
    public init(path: String, keepers: [KeyReference.Keeper: any KeyKeeper] = [:]) {
        self.path = path
        self.keepers = keepers
    }

    /// Opens the vault with the first key that fits.
    ///
    /// - Parameters:
    ///   - keys: tried in order. A new vault gets a slot for each.
    ///   - creating: whether to create a missing vault. An existing one is never replaced, even if it is damaged.
    /// - Throws: ``VaultError``; the file is as it was before.
    public static func open(at path: String, with keys: [any SlotKey], creating: Bool) async throws(VaultError) -> Vault
    {
        let vault = Vault(path: path)
        try await vault.unseal(with: keys, creating: creating)
        return vault
    }

    /// Opens it with the first key that fits, as ``open(at:with:creating:)`` does.
    ///
    /// - Throws: ``VaultError``; the file is as it was before, and the vault is not open.
    public func unseal(with keys: [any SlotKey], creating: Bool) async throws(VaultError) {
        await keyTurn.lock()
        defer { keyTurn.unlock() }
        if let file { return try await unlock(file, with: keys) }
        let file = try await existingFile(creatingWith: creating ? keys : nil)
        do throws(VaultError) {
            try await unlock(file, with: keys)
        } catch {
            file.database.close()
            throw error
        }
    }

    /// - Parameter keys: for a new file where there is none; `nil` to create none.
    private func existingFile(creatingWith keys: [any SlotKey]?) async throws(VaultError) -> VaultFile {
        let found = try explained { () throws -> VaultFile? in
            do {
                return try VaultFile(at: path)
            } catch StorageError.missing where keys != nil {
                return nil
            }
        }
        if let found { return found }
        let ending = endings
        var made: [NewSlotKey] = []
        for key in keys ?? [] { made.append(try await key.made()) }
        try checkNotEnded(since: ending)
        return try explained {
            try VaultFile.create(at: path, with: made)
            return try VaultFile(at: path)
        }
    }

    // MARK: States

    /// The state of the vault, which determines the available functions.
    public enum State: String, Sendable, CaseIterable {
        /// All functions are available.
        case unlocked
        /// Its root key is not in memory: only unlocking, closing and listing its slots are available.
        case locked
        /// Not open yet, or no longer open: no function is available.
        case closed
    }

    public var state: State {
        if file == nil { return .closed }
        return unsealed == nil ? .locked : .unlocked
    }

    /// Wipes the root key from memory. A commit either completes before this begins or is refused after it, and a call
    /// that waits for the key of a slot meanwhile is refused. Does not affect data that callers have already read.
    public func lock() {
        (endings, levelLocks) = (endings + 1, levelLocks + 1)
        guard state == .unlocked else { return }
        (unsealed, root) = (nil, nil)
        states.send(.locked)
    }

    /// Unlocks the vault with the first key that fits. An unlocked vault stays unlocked, and only checks the keys.
    ///
    /// - Parameter keys: tried in order.
    /// - Throws: ``VaultError``; the vault is as it was before. ``VaultError/manifestRolledBack(path:)`` when the file
    ///   was meanwhile replaced by an earlier state. ``VaultError/locked(path:)`` when it was locked meanwhile.
    public func unlock(with keys: [any SlotKey]) async throws(VaultError) {
        await keyTurn.lock()
        defer { keyTurn.unlock() }
        try await unlock(try openFile(), with: keys)
    }

    private func unlock(_ opening: VaultFile, with keys: [any SlotKey]) async throws(VaultError) {
        let ending = endings
        var (seal, slot) = try await opened(opening, with: keys)
        try checkNotEnded(since: ending)
        let before = state
        root = nil
        (generation, seal.levelKeys) = try explained {
            try opening.convert(seal)
            // What a full disk keeps now is removed by a later opening.
            if file == nil, try opening.hasDrafts() { try? opening.removeDrafts() }
            return try opening.database.snapshot {
                let opened = Unsealed(file: opening, seal: seal, openedBy: slot)
                let root = try checkedRoot(opened)
                // A vault that is unlocked already keeps its levels open.
                return (root.generation, try unsealed?.seal.levelKeys ?? defaultLevelKeys(root, opened))
            }
        }
        (file, unsealed) = (opening, Unsealed(file: opening, seal: seal, openedBy: slot))
        if before != state { states.send(state) }
    }

    /// Derives the key of a slot that is about to be written, while other calls go on.
    ///
    /// - Throws: ``VaultError``; ``VaultError/locked(path:)`` or ``VaultError/closed(path:)`` when it was locked or
    ///   closed meanwhile, even if it is unlocked again.
    func made(_ key: any SlotKey) async throws(VaultError) -> NewSlotKey {
        let ending = endings
        let made = try await key.made()
        try checkNotEnded(since: ending)
        return made
    }

    private func checkNotEnded(since ending: Int) throws(VaultError) {
        guard endings != ending else { return }
        throw file == nil ? .closed(path: path) : .locked(path: path)
    }

    /// Closes the file and wipes the root key. Later calls throw ``VaultError/closed(path:)``.
    public func close() {
        (endings, levelLocks) = (endings + 1, levelLocks + 1)
        guard let file else { return }
        file.database.close()
        self.file = nil
        (unsealed, root) = (nil, nil)
        states.send(.closed)
        states.finish()
    }

    /// - Throws: ``VaultError/closed(path:)``
    func openFile() throws(VaultError) -> VaultFile {
        guard let file else { throw VaultError.closed(path: path) }
        return file
    }

    /// - Throws: ``VaultError/closed(path:)``, ``VaultError/locked(path:)``
    func access() throws(VaultError) -> Unsealed {
        _ = try openFile()
        guard let unsealed else { throw VaultError.locked(path: path) }
        return unsealed
    }

    /// The root of the list of records, checked not to be older than the newest that this process has seen.
    func root(_ unsealed: Unsealed) throws -> ManifestRoot {
        if let root, try unsealed.file.claimedGeneration() == root.generation { return root }
        let found = try unsealed.file.root(unsealed.seal)
        guard found.generation >= generation else { throw VaultError.manifestRolledBack(path: path) }
        root = found
        return found
    }

    func noteWritten(_ root: ManifestRoot) { (self.root, generation) = (root, root.generation) }

    func noteReplaced(_ unsealed: Unsealed) { self.unsealed = unsealed }

    func noteLevelsLocked() { levelLocks += 1 }

    /// The root, with every page and the key that it names, so that damage is found before the vault is used.
    private func checkedRoot(_ unsealed: Unsealed) throws -> ManifestRoot {
        let root = try root(unsealed)
        for page in root.pages { _ = try unsealed.file.page(page, unsealed.seal) }
        guard try unsealed.file.dataKey(root.key, unsealed.seal) != nil else {
            throw VaultError.manifestDamaged(path: path)
        }
        return root
    }
}
