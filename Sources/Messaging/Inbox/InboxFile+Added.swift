import Storage

/// The inboxes that were added while the agent ran.
extension InboxFile {
    /// By name.
    func added() throws(StorageError) -> [InboxPolicy] {
        let rows = try database.rows(
            "SELECT name, filter, qos, limitBytes, limitMessages, maxAgeSeconds, retained FROM added ORDER BY name"
        ) { row in
            (try? TopicFilter(row.text(1))).map { filter in
                InboxPolicy(
                    name: row.text(0), filter: filter, qos: QoS(rawValue: Int(row.int64(2))) ?? .atLeastOnce,
                    limitBytes: Int(row.int64(3)), limitMessages: Int(row.int64(4)), maxAge: .seconds(row.int64(5)),
                    takesRetained: row.int64(6) != 0)
            }
        }
        return rows.compactMap(\.self)
    }

    func add(_ policy: InboxPolicy) throws(StorageError) {
        try database.run(
            "INSERT INTO added VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)", .text(policy.name), .text(policy.filter.text),
            .integer(Int64(policy.qos.rawValue)), .integer(Int64(policy.limitBytes)),
            .integer(Int64(policy.limitMessages)), .integer(policy.maxAge.components.seconds),
            .integer(policy.takesRetained ? 1 : 0))
        // Ended at the broker after a start that no longer has the inbox.
        try database.run("INSERT OR IGNORE INTO filter VALUES (?1)", .text(policy.filter.text))
    }

    func removeAdded(_ name: String) throws(StorageError) {
        try database.run("DELETE FROM added WHERE name = ?1", .text(name))
        try database.run("DELETE FROM inbox WHERE name = ?1", .text(name))
        change(name) { $0.dropped = 0 }
    }
}
