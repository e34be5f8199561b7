import Storage

extension OutboxFile {
    /// The device identifier that the messages were accepted for; `nil` in a new file, and in files of versions that
    /// did not record it.
    func owner() throws(StorageError) -> String? {
        let owner = try database.first("SELECT coalesce(owner, '') FROM ledger") { $0.text(0) } ?? ""
        return owner.isEmpty ? nil : owner
    }

    func setOwner(_ owner: String) throws(StorageError) {
        try database.run("UPDATE ledger SET owner = ?1", .text(owner))
    }

    func removeAll() throws(StorageError) {
        try database.execute(
            """
            PRAGMA secure_delete = ON;
            DELETE FROM message; DELETE FROM dead_letter; DELETE FROM topic;
            PRAGMA secure_delete = FAST;
            """)
        forgetKnownTopics()
    }

    func eraseRemoved() throws(StorageError) { try database.checkpoint() }
}
