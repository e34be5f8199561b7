import Cryptography
import Groundwork
import Storage

/// Reading and writing records.
extension Vault {
    /// The most records and bytes of content of one turn of long work, after which other calls come through; a larger
    /// record has a turn alone.
    static let turn = (records: 64, bytes: 1 << 20)

    /// - Returns: `nil` when there is no such record.
    /// - Throws: ``VaultError``; the record's own are `recordDamaged`, `recordDisplaced`, `recordRolledBack` and
    ///   `recordMissing`. ``VaultError/recordIsKey(name:)`` for a private key, which only a ``KeyStore`` reads.
    ///   ``VaultError/levelLocked(path:level:)`` if the record needs the passcode.
    ///   ``VaultError/contentTooLong(name:bytes:limit:)`` for a value in pieces, see ``value(_:)``.
    public func record(_ name: RecordName) throws(VaultError) -> Record? {
        let record = try exposedRecord(name)
        guard record?.kind != .privateKey else { throw VaultError.recordIsKey(name: name) }
        return record
    }

    /// Reads a record as ``record(_:)`` does, including private keys.
    @_spi(KeyBytes) public func exposedRecord(_ name: RecordName) throws(VaultError) -> Record? {
        let unsealed = try access()
        let record = try explained {
            try unsealed.file.database.snapshot { try read(name, try root(unsealed), unsealed) }
        }
        guard record?.kind != .pieces else {
            let bytes = try value(name)?.count ?? 0
            throw VaultError.contentTooLong(name: name, bytes: bytes, limit: Change.contentLimit)
        }
        return record
    }

    func read(_ name: RecordName, _ root: ManifestRoot, _ unsealed: Unsealed) throws -> Record? {
        do {
            return try readInPlace(name, root, unsealed)
        } catch VaultError.recordDamaged {
            for page in root.pages where try isDisplaced(name, from: page, unsealed) {
                throw VaultError.recordDisplaced(name: name)
            }
            throw VaultError.recordDamaged(name: name)
        }
    }

    /// Reads a record as ``read(_:_:_:)`` does, but takes content of another record for damaged.
    func readInPlace(_ name: RecordName, _ root: ManifestRoot, _ unsealed: Unsealed) throws -> Record? {
        let row = try unsealed.file.row(name)
        let page = try root.place(of: name).map { try unsealed.file.page(root.pages[$0], unsealed.seal) }
        guard let entry = page?.entries[name.name] else {
            guard row == nil else { throw VaultError.recordRolledBack(name: name) }
            return nil
        }
        guard let row else { throw VaultError.recordMissing(name: name) }
        guard row.version == entry.version else { throw VaultError.recordRolledBack(name: name) }
        guard row.kind == entry.kind else { throw VaultError.recordDisplaced(name: name) }
        guard let content = try open(row.sealed, as: name, entry, unsealed) else {
            throw VaultError.recordDamaged(name: name)
        }
        return Record(name: name, kind: entry.kind, version: entry.version, content: content)
    }

    /// Whether the content of a record opens as one of a page's, so that it was moved. A failed authentication itself
    /// has no reason.
    func isDisplaced(_ name: RecordName, from page: ManifestRoot.Page, _ unsealed: Unsealed) throws -> Bool {
        guard let row = try unsealed.file.row(name) else { return false }
        return try unsealed.file.page(page, unsealed.seal).entries.contains {
            do {
                return try open(row.sealed, as: RecordName(scope: page.scope, name: $0.key), $0.value, unsealed) != nil
            } catch VaultError.levelLocked {
                // Whether it is that record's cannot be seen.
                return false
            }
        }
    }

    /// `nil` when the bytes, or those of the key, were changed.
    private func open(
        _ sealed: [UInt8], as name: RecordName, _ entry: RecordEntry, _ unsealed: Unsealed
    ) throws -> SecretBytes? {
        guard let key = try unsealed.file.dataKey(entry.key, unsealed.seal) else { return nil }
        return try unsealed.seal.open(sealed, as: name, entry, key: key)
    }

    /// The sorted record names of a scope, read from the list of records without unsealing one. The state of the
    /// passcode is not among them.
    public func names(scope: String) throws(VaultError) -> [RecordName] {
        let unsealed = try access()
        return try explained {
            try unsealed.file.database.snapshot {
                try root(unsealed).pages.filter { $0.scope == scope }
                    .flatMap { try unsealed.file.page($0, unsealed.seal).entries.keys.sorted() }
                    .map { RecordName(scope: scope, name: $0) }.filter { $0 != Compartment.record }
            }
        }
    }

    /// All scopes with records, sorted.
    public func scopes() throws(VaultError) -> [String] {
        let unsealed = try access()
        return try explained { Set(try root(unsealed).pages.map(\.scope)).sorted() }
    }

    /// Makes all changes in order, or none; they are on disk when this returns. Removing a record, or replacing it by
    /// one of an open level, does not need its own level to be open.
    ///
    /// - Parameter counting: whether no earlier copy of the file may take its place, see
    ///   ``guardAgainstRollback(by:)``. Does not wait for the chip.
    /// - Throws: ``VaultError``, such as ``VaultError/levelLocked(path:level:)`` for a record of a level that is not
    ///   open, and ``PasscodeError/noPasscode`` if the vault has no such levels.
    public func commit(_ changes: [Change], counting: Bool = false) throws(VaultError) {
        _ = try access()
        for change in changes { try change.check() }
        try write(changes, counting: counting)
    }

    /// Makes changes that have been checked.
    func write(_ changes: [Change], counting: Bool = false) throws(VaultError) {
        guard !changes.isEmpty else { return }
        let (vaultID, kept) = (try access().seal.vaultID, keptKeys(removedBy: changes))
        var rest = changes.makeIterator()
        try write(counting: counting) { rest.next() }
        if counting { countLater() }
        for (key, keeper) in kept {
            killPoint("hardware-key-dropped")
            Task { await KeyMaker.shared.destroy(key, by: keeper, of: vaultID) }
        }
    }

    /// Makes changes that have been checked, each as it comes.
    ///
    /// - Parameters:
    ///   - counting: whether the commit counts; the caller has the counter follow.
    ///   - check: sees the list of records before the changes.
    ///   - next: gives `nil` after the last change.
    func write(
        counting: Bool = false, after check: (ManifestRoot, Unsealed) throws -> Void = { _, _ in },
        _ next: () throws -> Change?
    ) throws(VaultError) {
        let unsealed = try access()
        let written = try explained {
            try unsealed.file.database.transaction {
                var root = try root(unsealed)
                try check(root, unsealed)
                root.generation += 1
                if counting { count(&root) }
                guard let key = try unsealed.file.dataKey(root.key, unsealed.seal) else {
                    throw VaultError.manifestDamaged(path: path)
                }
                var draft = ManifestDraft(root, of: unsealed.file, unsealed.seal)
                while let change = try next() {
                    try apply(change, to: &draft, unsealed, key: key)
                    killPoint("vault-commit-inside")
                }
                guard draft.root.count <= ManifestRoot.recordLimit else {
                    throw VaultError.tooManyRecords(path: path, limit: ManifestRoot.recordLimit)
                }
                try draft.write()
                killPoint("vault-commit-written")
                return draft.root
            }
        }
        noteWritten(written)
        killPoint("vault-commit-committed")
    }

    private func apply(
        _ change: Change, to draft: inout ManifestDraft, _ unsealed: Unsealed, key: SecretBytes
    ) throws {
        switch change {
        case .putPersonal(let name, let kind, let content):
            let level: ProtectionLevel = try unsealed.file.levelKeyIDs().isEmpty ? .always : .unlocked
            try apply(.put(name, kind, content, level: level), to: &draft, unsealed, key: key)
        case .put(let name, let kind, let content, let level):
            let levelKey = level.isBehindPasscode ? try unsealed.file.levelKey(level, unsealed.seal) : nil
            let entry = RecordEntry(
                kind: kind, version: draft.root.generation, key: levelKey?.id ?? draft.root.key)
            try unsealed.file.put(name, entry, content, unsealed.seal, key: levelKey?.key ?? key)
            try draft.put(name, entry)
            let value = kind == .pieces ? LargeValue(decoding: content) : nil
            try unsealed.file.removePieces(of: name, except: value?.id)
            if let value, try unsealed.file.pieceCount(of: name, value.id) != value.pieceCount {
                throw VaultError.valueChanged(name: name)
            }
        case .remove(let name):
            try unsealed.file.remove(name)
            try unsealed.file.removePieces(of: name, except: nil)
            try draft.remove(name)
        }
    }
}
