import Cryptography
import Groundwork
import Storage

/// The sealed store of the board: private keys, certificates, tokens and configurations.
///
/// Data keys seal the records, and a random root key wraps the data keys. The file contains the root key once for each
/// slot, wrapped with that slot's key: a systemd credential, a passphrase, a development key file. A commit of several
/// changes is atomic, and on disk when it returns.
///
///     let vault = try await Vault.open(
///         at: "/var/lib/latchkey/vault.db", with: [SystemdCredential(name: "vault-key")], creating: true)
///     let made = try await vault.keys(of: scope).make(.p256, label: "device")
///     try await vault.commit([.put(RecordName(scope: scope, name: "token"), .token, token)])
///
/// The vault detects a changed byte, swapped records, and a single record that was rolled back, added or removed. It
/// does not detect a rollback of the whole file while the agent is stopped: no program can without a counter in
/// hardware (a TPM's).
///
/// Runs on ``NamedThread/storage``, including disk syncs and key derivations, never on the cooperative pool.
public actor Vault {
    public nonisolated var unownedExecutor: UnownedSerialExecutor { NamedThread.storage.asUnownedSerialExecutor() }

    public nonisolated let path: String

    /// The state that only an unlocked vault has.
    struct Unsealed {
        let file: VaultFile
        let seal: Seal
        let openedBy: Slot
    }
    /// `nil` before the vault is opened and after it is closed.
    private(set) var file: VaultFile?
    /// `nil` while the vault is locked or closed. It has the only reference to the root key, which is wiped with it.
    private(set) var unsealed: Unsealed?
    /// The newest generation that this process has seen, even if the vault was locked since.
    private var generation: Int64 = 0
    /// The root of the list of records, as it was read or written last.
    private var root: ManifestRoot?

    /// Sends every change of ``state``; the subscriptions end when the vault is closed.
    public nonisolated let states = Broadcast<State>()

    /// A vault that is not open yet: until ``unseal(with:creating:)`` has opened it, its functions throw
    /// ``VaultError/closed(path:)``.
    public init(path: String) { self.path = path }

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
    public func unseal(with keys: [any SlotKey], creating: Bool) throws(VaultError) {
        guard file == nil else { return try unlock(with: keys) }
        file = try explained {
            do {
                return try VaultFile(at: path)
            } catch StorageError.missing where creating {
                try VaultFile.create(at: path, with: keys)
                return try VaultFile(at: path)
            }
        }
        do throws(VaultError) {
            try unlock(with: keys)
        } catch {
            file?.database.close()
            file = nil
            throw error
        }
    }

    /// Moves a damaged vault, which must not be open, to `NAME.damaged-DATE`, so that a new one can be created.
    ///
    /// - Returns: its new path.
    public static func setAside(at path: String) throws(VaultError) -> String {
        try explained { try Database.setAside(path) }
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

    /// Wipes the root key from memory. A commit either completes before this begins or is refused after it. Does not
    /// affect data that callers have already read.
    public func lock() {
        guard state == .unlocked else { return }
        (unsealed, root) = (nil, nil)
        states.send(.locked)
    }

    /// Unlocks the vault with the first key that fits. An unlocked vault stays unlocked, and only checks the keys.
    ///
    /// - Parameter keys: tried in order.
    /// - Throws: ``VaultError``; the vault is as it was before. ``VaultError/manifestRolledBack(path:)`` when the file
    ///   was meanwhile replaced by an earlier state.
    public func unlock(with keys: [any SlotKey]) throws(VaultError) {
        let file = try openFile()
        let before = state
        try explained {
            let (seal, slot) = try file.unseal(with: keys)
            let opened = Unsealed(file: file, seal: seal, openedBy: slot)
            try file.convert(seal)
            generation = try file.database.snapshot { try checkedRoot(opened).generation }
            unsealed = opened
        }
        if before != state { states.send(state) }
    }

    /// Closes the file and wipes the root key. Later calls throw ``VaultError/closed(path:)``.
    public func close() {
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
