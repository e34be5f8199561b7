import FoundationEssentials
import Storage

/// What actions need of the messages, and the reports of their runs.
extension InboxFile {
    /// The most reports of one action that are kept.
    static let runLimit = 20

    func countAttempts(_ count: Int, of id: Int64) throws(StorageError) {
        try database.run(
            "UPDATE message SET attempts = max(0, attempts + ?2) WHERE id = ?1", .integer(id), .integer(Int64(count)))
    }

    func setDead(_ id: Int64, of inbox: String) throws(StorageError) {
        let count = try database.run(
            "UPDATE message SET dead = 1 WHERE id = ?1 AND inbox = ?2 AND dead = 0", .integer(id), .text(inbox))
        try changeEnds(of: inbox) { status in
            status.unread -= count
            status.dead += count
        }
    }

    /// - Returns: how many messages wait again.
    func revive(_ inbox: String) throws(StorageError) -> Int {
        let count = try database.run(
            "UPDATE message SET dead = 0, attempts = 0 WHERE inbox = ?1 AND dead = 1", .text(inbox))
        try changeEnds(of: inbox) { status in
            status.unread += count
            status.dead -= count
        }
        return count
    }

    /// - Parameter report: as the local API shows it.
    func addRun(of action: String, began: Date, report: [UInt8]) throws(StorageError) {
        try database.run(
            "INSERT INTO run VALUES (NULL, ?1, ?2, ?3)", .text(action), .real(began.timeIntervalSince1970),
            .blob(report))
        try database.run(
            "DELETE FROM run WHERE action = ?1 AND id NOT IN "
                + "(SELECT id FROM run WHERE action = ?1 ORDER BY id DESC LIMIT ?2)", .text(action),
            .integer(Int64(Self.runLimit)))
    }

    /// The oldest first.
    func runs(of action: String) throws(StorageError) -> [[UInt8]] {
        try database.rows("SELECT report FROM run WHERE action = ?1 ORDER BY id", .text(action)) { $0.blob(0) }
    }
}
