import FoundationEssentials
import Groundwork
import Storage

/// The database of an outbox. It has the content of dead letters; up to version 2 it had the messages too, which are
/// read from it once.
struct OutboxDatabase {
    static let migrations = [
        Migration(
            version: 1,
            sql: """
                CREATE TABLE topic (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
                CREATE TABLE message (
                    id INTEGER PRIMARY KEY,
                    -- Bytes accepted up to and with this row, since the outbox was made.
                    total INTEGER NOT NULL,
                    -- Milliseconds since 1970.
                    accepted_at INTEGER NOT NULL,
                    -- QoS in bits 0 and 1, retain in bit 2, explicit in bit 3; above it the publisher's user id plus 1, or 0.
                    flags INTEGER NOT NULL,
                    topic INTEGER NOT NULL,
                    payload BLOB NOT NULL
                ) STRICT;
                CREATE TABLE ledger (
                    id INTEGER PRIMARY KEY CHECK (id = 1),
                    accepted INTEGER NOT NULL, accepted_bytes INTEGER NOT NULL,
                    removed INTEGER NOT NULL, removed_bytes INTEGER NOT NULL,
                    refused INTEGER NOT NULL, dropped_full INTEGER NOT NULL, dropped_expired INTEGER NOT NULL,
                    dropped_unsendable INTEGER NOT NULL
                ) STRICT;
                INSERT INTO ledger VALUES (1, 0, 0, 0, 0, 0, 0, 0, 0);
                """),
        Migration(
            version: 2,
            sql: """
                -- The device identifier that the messages were accepted for.
                ALTER TABLE ledger ADD COLUMN owner TEXT;
                ALTER TABLE ledger ADD COLUMN dropped_former INTEGER NOT NULL DEFAULT 0;
                ALTER TABLE ledger ADD COLUMN dead INTEGER NOT NULL DEFAULT 0;
                ALTER TABLE ledger ADD COLUMN retried INTEGER NOT NULL DEFAULT 0;
                CREATE TABLE dead_letter (
                    id INTEGER PRIMARY KEY,
                    -- Milliseconds since 1970.
                    accepted_at INTEGER NOT NULL, died_at INTEGER NOT NULL,
                    flags INTEGER NOT NULL, topic TEXT NOT NULL, payload BLOB NOT NULL, reason TEXT NOT NULL
                ) STRICT;
                """),
        Migration(
            version: 3,
            sql: """
                -- The messages are in segments now; the tables message, topic and ledger are dropped once they are.
                CREATE TABLE segments (
                    id INTEGER PRIMARY KEY CHECK (id = 1),
                    -- What each frame of the segments begins with.
                    mark INTEGER NOT NULL,
                    -- A transaction that is known to be on the disk; -1: all segments have to be checked.
                    synced INTEGER NOT NULL
                ) STRICT;
                INSERT INTO segments VALUES (1, random(), 0);
                """),
    ]

    let database: Database
    private let topics = TopicCache()

    /// The topics that were read.
    private final class TopicCache { var known: [Int64: Topic] = [:] }

    static func options(_ policy: OutboxPolicy) -> Database.Options {
        var options = Database.Options()
        options.cacheKiB = 64
        options.valueBytes = max(options.valueBytes, policy.payloadLimit + (1 << 16))
        return options
    }

    init(_ database: Database) { self.database = database }

    /// Opens what is left of a damaged one.
    init?(damaged path: String, _ policy: OutboxPolicy) {
        var options = Self.options(policy)
        options.creates = false
        options.isDamaged = true
        guard let database = try? Database(path: path, migrations: Self.migrations, options: options) else {
            return nil
        }
        self.init(database)
    }

    /// Whether it is one of a version before, whose messages were not taken over yet.
    static func hasMessages(_ database: Database) throws(StorageError) -> Bool {
        try database.first("SELECT 1 FROM sqlite_schema WHERE name = 'message'") { _ in true } ?? false
    }

    /// Whether it was just made: nothing was ever accepted into it.
    static func isNew(_ database: Database) throws(StorageError) -> Bool {
        guard try hasMessages(database) else { return false }
        return try database.first(
            """
            SELECT NOT EXISTS (SELECT 1 FROM message) AND NOT EXISTS (SELECT 1 FROM dead_letter) AND owner IS NULL
                AND accepted + removed + refused + dropped_full + dropped_expired + dropped_unsendable + dropped_former
                    + dead + retried = 0
            FROM ledger
            """
        ) { $0.int64(0) == 1 } ?? false
    }

    /// Drops what is in segments now, and gives the room back.
    ///
    /// - Parameter mark: that of the segments, if the database does not know it.
    static func dropMessages(_ database: Database, adopting mark: UInt64? = nil) throws(StorageError) {
        // Rewriting the file leaves nothing of it.
        try database.execute("PRAGMA secure_delete = FAST")
        defer { try? database.execute("PRAGMA secure_delete = ON") }
        do {
            try database.transaction {
                if let mark {
                    try database.run(
                        "UPDATE segments SET mark = ?1, synced = -1", .integer(Int64(bitPattern: mark)))
                }
                killPoint("outbox-database-written")
                try database.execute("DROP TABLE message; DROP TABLE topic; DROP TABLE ledger")
            }
        } catch {
            throw error as? StorageError ?? .refused(path: database.path, reason: "\(error)")
        }
        killPoint("outbox-database-committed")
        try giveBackRoom(of: database)
    }

    /// Rewrites the file if it has unused pages, which may still have content.
    static func giveBackRoom(of database: Database) throws(StorageError) {
        guard try database.first("PRAGMA freelist_count", read: { $0.int64(0) }) ?? 0 > 0 else { return }
        // On a full disk it keeps its size; the next start tries again.
        try? database.execute("VACUUM; PRAGMA wal_checkpoint(TRUNCATE);")
    }

    /// The device identifier that the messages were accepted for; `nil` in files of versions that did not record it.
    func owner() throws(StorageError) -> String? {
        let owner = try database.first("SELECT coalesce(owner, '') FROM ledger") { $0.text(0) } ?? ""
        return owner.isEmpty ? nil : owner
    }

    func ledger() throws(StorageError) -> OutboxLedger {
        var ledger =
            try database.first(
                """
                SELECT accepted, accepted_bytes, removed, removed_bytes, refused, dropped_full, dropped_expired,
                    dropped_unsendable, dropped_former, dead, retried FROM ledger
                """
            ) { row in
                OutboxLedger(
                    accepted: row.int64(0), acceptedBytes: row.int64(1), removed: row.int64(2),
                    removedBytes: row.int64(3),
                    drops: .init(
                        full: Int(row.int64(5)), expired: Int(row.int64(6)), unsendable: Int(row.int64(7)),
                        formerIdentity: Int(row.int64(8))),
                    refused: row.int64(4), dead: row.int64(9), retried: row.int64(10))
            } ?? OutboxLedger()
        let newest = try database.first("SELECT id, total FROM message ORDER BY id DESC LIMIT 1") {
            ($0.int64(0), $0.int64(1))
        }
        if let newest { (ledger.accepted, ledger.acceptedBytes) = newest }
        return ledger
    }

    func page(after id: Int64, limit: Int, bytes: Int) throws(StorageError) -> (messages: [QueuedMessage], isLast: Bool)
    {
        let statement = try database.prepare(
            "SELECT id, accepted_at, flags, topic, payload FROM message WHERE id > ?1 ORDER BY id LIMIT ?2")
        try statement.bind([.integer(id), .integer(Int64(limit))])
        defer { statement.reset() }
        var messages: [QueuedMessage] = []
        var left = bytes
        while messages.count < limit, left > 0 {
            guard try statement.step() else { return (messages, true) }
            let message = QueuedMessage(
                id: statement.int64(0),
                message: OutgoingMessage(
                    topic: try topic(statement.int64(3)), payload: statement.blob(4), flags: statement.int64(2)),
                stamp: MessageStamp(storedMilliseconds: statement.int64(1)))
            messages.append(message)
            left -= message.size
        }
        return (messages, false)
    }

    /// - Throws: ``StorageError/damaged(path:detail:)`` for a row whose topic is missing or invalid.
    func topic(_ id: Int64) throws(StorageError) -> Topic {
        if let known = topics.known[id] { return known }
        let name = try database.first("SELECT name FROM topic WHERE id = ?1", .integer(id)) { $0.text(0) }
        guard let name, let topic = try? Topic(name) else {
            throw .damaged(path: database.path, detail: "topic \(id) is missing or invalid")
        }
        topics.known[id] = topic
        return topic
    }
}

extension OutgoingMessage {
    /// QoS, retain, kind and publisher as they are stored.
    var flags: Int64 {
        Int64(qos.rawValue | (retain ? 4 : 0) | (kind == .explicit ? 8 : 0))
            | (publisher.map { (Int64($0) + 1) << 4 } ?? 0)
    }

    /// - Parameter flags: QoS 2 is there from versions that sent it as such.
    init(topic: Topic, payload: [UInt8], flags: Int64) {
        self.init(
            topic: topic, payload: payload, qos: QoS(requested: Int(flags & 3)) ?? .atLeastOnce, retain: flags & 4 != 0,
            kind: flags & 8 != 0 ? .explicit : .telemetry,
            publisher: flags >> 4 > 0 ? UInt32(truncatingIfNeeded: (flags >> 4) - 1) : nil)
    }
}

extension Date {
    /// From the stored form.
    init(milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1000) }
    var milliseconds: Int64 { Int64((timeIntervalSince1970 * 1000).rounded()) }
}
