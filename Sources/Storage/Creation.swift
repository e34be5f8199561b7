import FoundationEssentials
import Glibc
import Groundwork

extension Database {
    /// Makes a database file that is whole from the moment it has its name: it is filled as `NAME.new` and then renamed.
    ///
    /// For a file without which the rest is worthless. One process makes it; a file that is there already is not touched.
    /// A log or journal that an earlier file of this name has left is set aside with ``setAside(_:now:)``'s names: SQLite
    /// would play it into the new one.
    ///
    /// - Throws: ``StorageError/cannotOpen(path:reason:)`` when there is such a file, and what `fill` throws.
    public static func create(at path: String, migrations: [Migration], fill: (Database) throws -> Void) throws {
        var found = stat()
        guard lstat(path, &found) != 0 else { throw StorageError.cannotOpen(path: path, reason: "it exists already") }
        let draft = path + ".new"
        // What a crash has left of an earlier draft was never in use.
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
