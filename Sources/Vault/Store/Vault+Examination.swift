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
        let copy = "\(folder)/vault.db"
        for suffix in ["", "-wal"] { try self.copy(path + suffix, to: copy + suffix, isOptional: !suffix.isEmpty) }
        return try explained {
            let file = try VaultFile(at: copy)
            defer { file.database.close() }
            return try file.storedSlots().map(\.slot)
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
