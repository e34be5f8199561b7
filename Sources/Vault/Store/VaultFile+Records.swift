import Cryptography
import Groundwork
import Storage

/// The rows of the list of records, of the data keys, and of the records themselves.
extension VaultFile {
    // MARK: The list of records

    /// What the file says of its generation, which is not authenticated: another one than before shows that the file
    /// was written to.
    func claimedGeneration() throws -> Int64? {
        try database.first("SELECT generation FROM vault", read: { $0.int64(0) })
    }

    /// - Throws: ``VaultError/manifestDamaged(path:)``
    func root(_ seal: Seal) throws -> ManifestRoot {
        let sealed = try database.first("SELECT root FROM vault", read: { $0.blob(0) })
        guard let root = try sealed.flatMap(seal.openRoot) else { throw VaultError.manifestDamaged(path: path) }
        return root
    }

    func write(_ root: ManifestRoot, _ seal: Seal) throws {
        try database.run(
            "UPDATE vault SET root = ?1, generation = ?2, format = 2", .blob(try seal.seal(root)),
            .integer(root.generation))
    }

    /// - Throws: ``VaultError/manifestDamaged(path:)`` if it is not the page that the root names.
    func page(_ page: ManifestRoot.Page, _ seal: Seal) throws -> ManifestPage {
        let sealed = try database.first(
            "SELECT sealed FROM page WHERE id = ?1", .integer(page.id), read: { $0.blob(0) })
        guard let sealed, SHA256.hash(sealed) == page.digest, let opened = try seal.openPage(sealed, id: page.id),
            opened.scope == page.scope, opened.entries.count == page.count
        else { throw VaultError.manifestDamaged(path: path) }
        return opened
    }

    func writePage(_ id: Int64, _ sealed: [UInt8]) throws {
        try database.run("INSERT OR REPLACE INTO page (id, sealed) VALUES (?1, ?2)", .integer(id), .blob(sealed))
    }

    func removePage(_ id: Int64) throws { try database.run("DELETE FROM page WHERE id = ?1", .integer(id)) }

    /// Takes over the list of format 1, if the file still has it.
    ///
    /// - Throws: ``VaultError/manifestDamaged(path:)``; the file is as it was before.
    func convert(_ seal: Seal) throws {
        let isOld = "SELECT root FROM vault WHERE format = 1"
        guard try database.first(isOld, read: { _ in true }) != nil else { return }
        try database.transaction {
            // Another process may have been faster.
            guard let sealed = try database.first(isOld, read: { $0.blob(0) }) else { return }
            guard let manifest = try seal.openManifest(sealed) else { throw VaultError.manifestDamaged(path: path) }
            var root = ManifestRoot(key: try addKey(.always, seal))
            root.generation = manifest.generation
            var draft = ManifestDraft(root, of: self, seal)
            for (name, entry) in manifest.entries.sorted(by: { $0.key < $1.key }) { try draft.put(name, entry) }
            try draft.write()
            killPoint("vault-conversion-written")
        }
        killPoint("vault-conversion-committed")
    }

    // MARK: Data keys

    /// Makes a data key.
    ///
    /// - Returns: its number.
    func addKey(_ level: ProtectionLevel, _ seal: Seal) throws -> Int64 {
        let id = (try database.first("SELECT max(id) FROM key", read: { $0.int64(0) }) ?? Seal.rootKeyID) + 1
        let wrapped = try seal.wrap(try SecretBytes.random(Seal.keyBytes), id: id, level)
        try database.run(
            "INSERT INTO key (id, level, wrapped) VALUES (?1, ?2, ?3)", .integer(id), .text(level.rawValue),
            .blob(wrapped))
        return id
    }

    /// Wraps every data key for another root key; those behind the passcode stay wrapped by its key. One that does not
    /// open is removed: nothing opens with it. But one behind the passcode names the records that a wipe has to remove.
    func rewrapKeys(of former: Seal, for seal: Seal) throws {
        for id in try database.rows("SELECT id FROM key", read: { $0.int64(0) }) {
            if let wrapped = try rewrapped(id, of: former, for: seal) {
                try writeKey(id, wrapped)
            } else if try keyRow(id)?.level.isBehindPasscode != true {
                try database.run("DELETE FROM key WHERE id = ?1", .integer(id))
            }
        }
    }

    private func rewrapped(_ id: Int64, of former: Seal, for seal: Seal) throws -> [UInt8]? {
        guard let row = try keyRow(id) else { return nil }
        if let key = try former.unwrap(row.wrapped, id: id, row.level) { return try seal.wrap(key, id: id, row.level) }
        guard row.level.isBehindPasscode, let inner = try former.unwrapOuter(row.wrapped, id: id, row.level) else {
            return nil
        }
        return try seal.wrapOuter(inner, id: id, row.level)
    }

    func writeKey(_ id: Int64, _ wrapped: [UInt8]) throws {
        try database.run("UPDATE key SET wrapped = ?1 WHERE id = ?2", .blob(wrapped), .integer(id))
    }

    /// How many keys there are that are not behind the passcode.
    func keyCount() throws -> Int {
        Int(try database.first("SELECT count(*) FROM key WHERE \(Self.isFree)", read: { $0.int64(0) }) ?? 0)
    }

    /// Removes the other keys that are not behind the passcode.
    func removeKeys(except kept: Int64) throws {
        try database.run("DELETE FROM key WHERE id <> ?1 AND \(Self.isFree)", .integer(kept))
    }

    private static let isFree = "level NOT IN ('first-unlock', 'unlocked')"

    /// A data key as stored in the file.
    struct KeyRow {
        let id: Int64
        let level: ProtectionLevel
        let wrapped: [UInt8]
    }

    /// `nil` if there is no such key, or it has no known level.
    func keyRow(_ id: Int64) throws -> KeyRow? {
        try database.first(
            "SELECT level, wrapped FROM key WHERE id = ?1", .integer(id),
            read: { row in
                ProtectionLevel(rawValue: row.text(0)).map { KeyRow(id: id, level: $0, wrapped: row.blob(1)) }
            }) ?? nil
    }

    /// - Returns: `nil` if there is no such key, or bytes of it have changed.
    /// - Throws: ``VaultError/levelLocked(path:level:)``
    func dataKey(_ id: Int64, _ seal: Seal) throws -> SecretBytes? {
        guard id != Seal.rootKeyID else { return seal.rootKey }
        guard let row = try keyRow(id) else { return nil }
        guard row.level.isBehindPasscode else { return try seal.unwrap(row.wrapped, id: id, row.level) }
        guard try isGenuine(row, seal) else { return nil }
        guard let open = seal.levelKeys[row.level], open.id == id else {
            throw VaultError.levelLocked(path: path, level: row.level)
        }
        return open.key
    }

    // MARK: Records

    /// A record as stored in the file: the unverified values of its columns, and the sealed content.
    struct Row {
        let kind: RecordKind
        let version: Int64
        let sealed: [UInt8]
    }

    func row(_ name: RecordName) throws -> Row? {
        try database.first(
            "SELECT kind, version, sealed FROM record WHERE scope = ?1 AND name = ?2",
            .text(name.scope), .text(name.name),
            read: { Row(kind: RecordKind(rawValue: $0.text(0)), version: $0.int64(1), sealed: $0.blob(2)) })
    }

    func put(_ name: RecordName, _ entry: RecordEntry, _ content: SecretBytes, _ seal: Seal, key: SecretBytes) throws {
        try database.run(
            "INSERT OR REPLACE INTO record (scope, name, kind, version, sealed) VALUES (?1, ?2, ?3, ?4, ?5)",
            .text(name.scope), .text(name.name), .text(entry.kind.rawValue), .integer(entry.version),
            .blob(try seal.seal(content, as: name, entry, key: key)))
    }

    func remove(_ name: RecordName) throws {
        try database.run("DELETE FROM record WHERE scope = ?1 AND name = ?2", .text(name.scope), .text(name.name))
    }
}
