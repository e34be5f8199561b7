import Cryptography
import Groundwork
import Storage

/// The sealed store of the board: private keys, certificates, tokens and configurations.
///
/// A random data key seals every record. It lies in the file once for each slot, wrapped under that slot's key: a
/// systemd credential, a passphrase, a development key file. A commit of several changes is on the disk as a whole when
/// it returns, or not at all.
///
///     let vault = try await Vault.open(
///         at: "/var/lib/latchkey/vault.db", with: [SystemdCredential(name: "vault-key")], creating: true)
///     try await vault.commit([.put(RecordName(scope: "", name: "device-key"), .privateKey, key)])
///
/// What is noticed: a changed byte, a record in another's place, one record put back to an earlier state, added or
/// removed. What is not: the whole file put back to an earlier state while the agent is stopped. No program can notice
/// that without a counter in hardware (a TPM's).
///
/// Runs on ``NamedThread/storage``, disk syncs and key derivations included, never on the cooperative pool.
public actor Vault {
    public nonisolated var unownedExecutor: UnownedSerialExecutor { NamedThread.storage.asUnownedSerialExecutor() }

    public nonisolated let path: String

    private struct Unsealed {
        let file: VaultFile
        let seal: Seal
        let openedBy: Slot
        /// The newest generation this process has seen.
        var generation: Int64
    }
    /// `nil` before it is opened and after it is closed.
    private var state: Unsealed?

    private init(path: String) { self.path = path }

    /// Opens the vault by the first key that fits.
    ///
    /// - Parameters:
    ///   - keys: tried in order. A new vault gets a slot for each.
    ///   - creating: whether a vault that is missing is made. One that is there is never replaced, whatever its state.
    /// - Throws: ``VaultError``; the file is as it was before.
    public static func open(at path: String, with keys: [any SlotKey], creating: Bool) async throws(VaultError) -> Vault
    {
        let vault = Vault(path: path)
        try await vault.unseal(with: keys, creating: creating)
        return vault
    }

    private func unseal(with keys: [any SlotKey], creating: Bool) throws(VaultError) {
        state = try explained {
            let file: VaultFile
            do {
                file = try VaultFile(at: path)
            } catch StorageError.missing where creating {
                try VaultFile.create(at: path, with: keys)
                file = try VaultFile(at: path)
            }
            let (seal, slot) = try file.unseal(with: keys)
            return Unsealed(file: file, seal: seal, openedBy: slot, generation: try file.manifest(seal).generation)
        }
    }

    /// Moves a vault that is damaged and not open to `NAME.damaged-DATE`, so that a new one can be made.
    ///
    /// - Returns: the path it has now.
    public static func setAside(at path: String) throws(VaultError) -> String {
        try explained { try Database.setAside(path) }
    }

    /// Closes the file and forgets the data key. Everything asked later throws ``VaultError/closed(path:)``.
    public func close() {
        state?.file.database.close()
        state = nil
    }

    private func unsealed() throws(VaultError) -> Unsealed {
        guard let state else { throw VaultError.closed(path: path) }
        return state
    }

    /// The manifest, no older than the newest this process has seen.
    private func manifest(_ unsealed: Unsealed) throws -> Manifest {
        let manifest = try unsealed.file.manifest(unsealed.seal)
        guard manifest.generation >= unsealed.generation else { throw VaultError.manifestRolledBack(path: path) }
        return manifest
    }

    // MARK: Records

    /// - Returns: `nil` when there is no such record.
    /// - Throws: ``VaultError``; the record's own are `recordDamaged`, `recordDisplaced`, `recordRolledBack` and
    ///   `recordMissing`.
    public func record(_ name: RecordName) throws(VaultError) -> Record? {
        let unsealed = try unsealed()
        return try explained {
            try unsealed.file.database.snapshot { try read(name, try manifest(unsealed), unsealed) }
        }
    }

    private func read(_ name: RecordName, _ manifest: Manifest, _ unsealed: Unsealed) throws -> Record? {
        let row = try unsealed.file.row(name)
        guard let entry = manifest.entries[name] else {
            guard row == nil else { throw VaultError.recordRolledBack(name: name) }
            return nil
        }
        guard let row else { throw VaultError.recordMissing(name: name) }
        guard row.claim.version == entry.version else { throw VaultError.recordRolledBack(name: name) }
        guard row.claim.kind == entry.kind else { throw VaultError.recordDisplaced(name: name) }
        if let content = try unsealed.seal.open(row.sealed, as: name, entry) {
            return Record(name: name, kind: entry.kind, version: entry.version, content: content)
        }
        // Authentication does not say why it failed: what opens as another record was moved here, the rest is damage.
        let isDisplaced = try manifest.entries.contains {
            try unsealed.seal.open(row.sealed, as: $0.key, $0.value) != nil
        }
        throw isDisplaced ? VaultError.recordDisplaced(name: name) : VaultError.recordDamaged(name: name)
    }

    /// The names of a scope in order, read from the manifest without unsealing a record.
    public func names(scope: String) throws(VaultError) -> [RecordName] {
        let unsealed = try unsealed()
        return try explained { try manifest(unsealed).entries.keys.filter { $0.scope == scope }.sorted() }
    }

    /// Every scope that has a record, in order.
    public func scopes() throws(VaultError) -> [String] {
        let unsealed = try unsealed()
        return try explained { Set(try manifest(unsealed).entries.keys.map(\.scope)).sorted() }
    }

    /// Makes all changes, in order, or none; they are on the disk when this returns.
    public func commit(_ changes: [Change]) throws(VaultError) {
        let unsealed = try unsealed()
        for change in changes { try change.check() }
        guard !changes.isEmpty else { return }
        state?.generation = try explained {
            try unsealed.file.database.transaction {
                var manifest = try manifest(unsealed)
                manifest.generation += 1
                for change in changes {
                    try apply(change, to: &manifest, unsealed)
                    killPoint("vault-commit-inside")
                }
                guard manifest.entries.count <= Manifest.limit else {
                    throw VaultError.tooManyRecords(path: path, limit: Manifest.limit)
                }
                try unsealed.file.write(manifest, unsealed.seal)
                killPoint("vault-commit-written")
                return manifest.generation
            }
        }
        killPoint("vault-commit-committed")
    }

    private func apply(_ change: Change, to manifest: inout Manifest, _ unsealed: Unsealed) throws {
        switch change {
        case .put(let name, let kind, let content):
            let entry = Manifest.Entry(kind: kind, version: manifest.generation)
            try unsealed.file.put(name, entry, content, unsealed.seal)
            manifest.entries[name] = entry
        case .remove(let name):
            try unsealed.file.remove(name)
            manifest.entries[name] = nil
        }
    }

    /// Reads everything: each record that is listed and each row that is not.
    ///
    /// - Returns: what is wrong with single records, in the order of their names; empty when all is well.
    /// - Throws: ``VaultError`` when the vault as a whole cannot be read.
    public func faults() throws(VaultError) -> [VaultError] {
        let unsealed = try unsealed()
        return try explained {
            try unsealed.file.database.snapshot {
                let manifest = try manifest(unsealed)
                let names = Set(manifest.entries.keys).union(try unsealed.file.rowNames())
                return try names.sorted().compactMap { name in
                    do {
                        _ = try read(name, manifest, unsealed)
                        return nil
                    } catch let error as VaultError {
                        return error
                    }
                }
            }
        }
    }

    // MARK: Slots

    public func slots() throws(VaultError) -> [Slot] {
        let unsealed = try unsealed()
        return try explained { try unsealed.file.storedSlots().map(\.slot) }
    }

    /// The slot that opened the vault. One whose kind `isDevelopment` deserves a loud warning.
    public func openedBy() throws(VaultError) -> Slot { try unsealed().openedBy }

    /// Adds a slot that opens with `key`.
    @discardableResult
    public func add(_ key: any SlotKey) throws(VaultError) -> Slot {
        let unsealed = try unsealed()
        return try explained {
            try unsealed.file.database.transaction {
                guard try unsealed.file.storedSlots().count < StoredSlot.limit else {
                    throw VaultError.tooManySlots(path: path, limit: StoredSlot.limit)
                }
                return try unsealed.file.insertSlot(for: key, of: unsealed.seal)
            }
        }
    }

    /// Wraps the data key anew in a slot, under `key` with fresh parameters; what opened it before does so no more.
    @discardableResult
    public func rewrap(slot id: Int64, with key: any SlotKey) throws(VaultError) -> Slot {
        let unsealed = try unsealed()
        let slot = try explained {
            try unsealed.file.database.transaction {
                guard try unsealed.file.storedSlots().contains(where: { $0.id == id }) else {
                    throw VaultError.slotUnknown(path: path, id: id)
                }
                let slot = try unsealed.file.insertSlot(for: key, of: unsealed.seal, replacing: id)
                killPoint("vault-rewrap-written")
                return slot
            }
        }
        killPoint("vault-rewrap-committed")
        return slot
    }

    /// Removes a slot. Its key opens this file no more; copies of the file from before it still opens.
    ///
    /// - Throws: ``VaultError/lastSlot(path:id:)`` when no other slot is left undamaged.
    public func remove(slot id: Int64) throws(VaultError) {
        let unsealed = try unsealed()
        try explained {
            try unsealed.file.database.transaction {
                let slots = try unsealed.file.storedSlots()
                guard slots.contains(where: { $0.id == id }) else { throw VaultError.slotUnknown(path: path, id: id) }
                guard slots.contains(where: { $0.id != id && !$0.isDamaged }) else {
                    throw VaultError.lastSlot(path: path, id: id)
                }
                try unsealed.file.database.run("DELETE FROM slot WHERE id = ?1", .integer(id))
            }
        }
    }
}
