import Glibc
import Groundwork
import Storage

extension Vault {
    /// The largest vault that is examined, in bytes; its log may have as many.
    private static let examinedBytes = 16 << 20

    /// Checks the whole file of a vault that no process has open, and reads its slots. No key is needed and no record
    /// is opened.
    ///
    /// A copy is examined: opening a database may write to it and beside it, and the examiner may be another user than
    /// the vault's.
    ///
    /// - Parameter folder: an empty directory that only this user can read; the copy stays there.
    /// - Throws: ``VaultError``, with the path of the copy.
    public static func slots(of path: String, copiedInto folder: String) throws(VaultError) -> [Slot] {
        try examine(path, copiedInto: folder) { try $0.storedSlots().map(\.slot) }
    }

    /// Checks the whole file of a vault that no process has open, as far as that goes without a key: the file's
    /// structure, the digests of the slots, and whether every row has the shape of what it should be. No record is
    /// opened.
    ///
    /// - Parameter folder: as for ``slots(of:copiedInto:)``.
    /// - Throws: ``VaultError``, with the path of the copy, if the file as a whole is damaged.
    public static func verification(of path: String, copiedInto folder: String) throws(VaultError) -> Verification {
        try examine(path, copiedInto: folder) { file in
            _ = try file.vaultID()
            var found = Verification(areContentsChecked: false)
            let (slots, pages, keys) = (try file.storedSlots(), try file.pageRows(), try file.keyRows())
            (found.slots, found.pages, found.keys) = (slots.count, pages.count, keys.count)
            if try !file.listHasShape() { found.note([.listDamaged]) }
            found.note(pages.filter { !$0.hasShape }.map { .pageDamaged(id: $0.id) })
            found.note(slots.filter(\.isDamaged).map { .slotDamaged(id: $0.id) })
            found.note(keys.filter { !$0.hasShape }.map { .keyDamaged(id: $0.id) })
            // One more is more than a vault can have.
            let rows = try file.rows(.min ... .max, most: ManifestRoot.recordLimit + 1)
            found.records = rows.count
            found.note(rows.filter { !$0.hasShape }.map(\.name).sorted().map { .recordDamaged($0) })
            return found
        }
    }

    private static func examine<Result>(
        _ path: String, copiedInto folder: String, _ body: (VaultFile) throws -> Result
    ) throws(VaultError) -> Result {
        let copy = "\(folder)/vault.db"
        for suffix in ["", "-wal"] { try self.copy(path + suffix, to: copy + suffix, isOptional: !suffix.isEmpty) }
        return try explained {
            let file = try VaultFile(at: copy)
            defer { file.database.close() }
            return try body(file)
        }
    }

    private static func copy(_ path: String, to copy: String, isOptional: Bool) throws(VaultError) {
        let bytes: [UInt8]
        do {
            bytes = try BoundedFile.read(path, limit: examinedBytes, .regularWithoutLink)
        } catch .system(Errno(ENOENT)) {
            guard !isOptional else { return }
            throw .missing(path: path)
        } catch {
            throw .storage(.cannotOpen(path: path, reason: error.description))
        }
        try explained {
            let file = try PlainFile(copy, creating: true, of: copy)
            try file.write(bytes, at: 0)
        }
    }
}
