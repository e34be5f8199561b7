import FoundationEssentials
import Glibc
import Groundwork

extension Database {
    /// Creates a database file that is complete from the moment it has its name: it is filled as `NAME.new` and then
    /// renamed.
    ///
    /// For a file without which the rest is worthless. Only one process creates it; an existing file is not touched.
    /// A log or journal left by an earlier file of this name is set aside under the names of ``setAside(_:now:)``:
    /// SQLite would replay it into the new file.
    ///
    /// - Throws: ``StorageError/cannotOpen(path:reason:)`` if the file exists, and whatever `fill` throws.
    public static func create(at path: String, migrations: [Migration], fill: (Database) throws -> Void) throws {
        var found = stat()
        guard lstat(path, &found) != 0 else { throw StorageError.cannotOpen(path: path, reason: "it already exists") }
        let draft = path + ".new"
        // A draft left by a crash was never in use.
        DatabaseFile.remove(draft)
        do {
            let database = try Database(path: draft, migrations: migrations)
            defer { database.close() }
            try database.transaction { try fill(database) }
            try database.checkpoint()
        } catch {
            DatabaseFile.remove(draft)
            throw error
        }
        killPoint("creation-drafted")
        try DatabaseFile.setAsideCompanions(of: path, as: "\(path).damaged-\(stamp(Date()))")
        guard rename(draft, path) == 0 else {
            throw StorageError.cannotOpen(path: path, reason: DatabaseFile.reason(errno))
        }
        try DatabaseFile.syncDirectory(of: path)
    }
}
