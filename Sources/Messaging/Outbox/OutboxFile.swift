import FoundationEssentials
import Storage

/// The rows of an outbox in a SQLite database.
///
/// Made for flash: no index beside the table's own order, topics written once and not in each row, deleted pages not
/// overwritten on purpose, and a log long enough that most messages are gone before they would reach the database
/// itself.
final class OutboxFile: OutboxStore {
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
    ]

    let database: Database
    private var topicIDs: [String: Int64] = [:]
    private var topics: [Int64: Topic] = [:]
    /// Number of known topics from which on unused ones are dropped.
    private var topicLimit = OutboxFile.firstTopicLimit
    private static let firstTopicLimit = 4096

    /// - Returns: the store, and where a damaged file was moved to.
    static func open(
        at path: String, policy: OutboxPolicy, checkingAll: Bool = false
    ) throws(StorageError) -> (store: OutboxFile, setAside: String?) {
        var options = options(policy)
        if checkingAll { options.checkedBytes = .max }
        let (database, setAside) = try Database.openSettingAsideDamage(
            path: path, migrations: migrations, options: options)
        try database.execute("PRAGMA secure_delete = FAST; PRAGMA wal_autocheckpoint = 1000;")
        return (OutboxFile(database), setAside)
    }

    static func options(_ policy: OutboxPolicy) -> Database.Options {
        var options = Database.Options()
        options.logBytes = 4 << 20
        // Room for the rows of one request of many messages, which would otherwise be written twice.
        options.cacheKiB = 512
        options.valueBytes = max(options.valueBytes, policy.payloadLimit + (1 << 16))
        return options
    }

    init(_ database: Database) { self.database = database }

    func close() { database.close() }

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
        // Newer messages may have been counted that never were rows.
        if let newest, newest.0 > ledger.accepted { (ledger.accepted, ledger.acceptedBytes) = newest }
        return ledger
    }

    func save(_ ledger: OutboxLedger) throws(StorageError) {
        try database.run(
            """
            UPDATE ledger SET accepted = ?1, accepted_bytes = ?2, removed = ?3, removed_bytes = ?4, refused = ?5,
                dropped_full = ?6, dropped_expired = ?7, dropped_unsendable = ?8, dropped_former = ?9, dead = ?10,
                retried = ?11
            """,
            .integer(ledger.accepted), .integer(ledger.acceptedBytes), .integer(ledger.removed),
            .integer(ledger.removedBytes), .integer(ledger.refused), .integer(Int64(ledger.drops.full)),
            .integer(Int64(ledger.drops.expired)), .integer(Int64(ledger.drops.unsendable)),
            .integer(Int64(ledger.drops.formerIdentity)), .integer(ledger.dead), .integer(ledger.retried))
        if ledger.depth == 0 { try forgetTopics() }
    }

    func transaction(_ body: () throws -> Void) throws(StorageError) {
        do {
            try database.transaction(body)
        } catch {
            // Topics cached during the transaction may not be in the file.
            forgetKnownTopics()
            throw error as? StorageError ?? .refused(path: database.path, reason: "\(error)")
        }
    }

    // MARK: Rows

    func append(_ message: QueuedMessage, acceptedBytes: Int64) throws(StorageError) {
        try database.run(
            "INSERT INTO message VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            .integer(message.id), .integer(acceptedBytes),
            .integer(message.acceptedAt.milliseconds),
            .integer(message.message.flags), .integer(try id(of: message.message.topic)),
            .blob(message.message.payload))
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
                acceptedAt: Date(milliseconds: statement.int64(1)))
            messages.append(message)
            left -= message.size
        }
        return (messages, false)
    }

    func telemetry(after id: Int64, bytes: Int) throws(StorageError) -> [(id: Int64, size: Int)] {
        let statement = try database.prepare(
            "SELECT id, length(payload), topic FROM message WHERE id > ?1 AND flags & 8 = 0 ORDER BY id")
        try statement.bind([.integer(id)])
        defer { statement.reset() }
        var found: [(id: Int64, size: Int)] = []
        var left = bytes
        while left > 0, try statement.step() {
            let topic = try topic(statement.int64(2))
            let size = Int(statement.int64(1)) + topic.name.utf8.count + OutboxPolicy.rowOverhead
            found.append((statement.int64(0), size))
            left -= size
        }
        return found
    }

    func remove(_ ids: ClosedRange<Int64>) throws(StorageError) {
        try database.run(
            "DELETE FROM message WHERE id BETWEEN ?1 AND ?2", .integer(ids.lowerBound), .integer(ids.upperBound))
    }

    func oldest() throws(StorageError) -> Date? {
        try database.first("SELECT accepted_at FROM message ORDER BY id LIMIT 1") { Date(milliseconds: $0.int64(0)) }
    }

    func shares() throws(StorageError) -> OutboxShares {
        let sums = try database.rows(
            """
            SELECT flags >> 3, sum(length(payload) + length(CAST(name AS BLOB)) + ?1)
                FROM message JOIN topic ON topic.id = message.topic GROUP BY flags >> 3
            """, .integer(Int64(OutboxPolicy.rowOverhead))
        ) { (OutboxShare(flags: $0.int64(0) << 3), Int($0.int64(1))) }
        return OutboxShares(Dictionary(sums, uniquingKeysWith: +))
    }

    // MARK: Topics

    private func id(of topic: Topic) throws(StorageError) -> Int64 {
        if let known = topicIDs[topic.name] { return known }
        if topicIDs.count >= topicLimit { try dropUnusedTopics() }
        let found = try database.first("SELECT id FROM topic WHERE name = ?1", .text(topic.name)) { $0.int64(0) }
        let id: Int64
        if let found {
            id = found
        } else {
            try database.run("INSERT INTO topic (name) VALUES (?1)", .text(topic.name))
            id = try database.lastInsertedRow
        }
        topicIDs[topic.name] = id
        topics[id] = topic
        return id
    }

    /// - Throws: ``StorageError/damaged(path:detail:)`` for a row whose topic is missing or invalid.
    func topic(_ id: Int64) throws(StorageError) -> Topic {
        if let known = topics[id] { return known }
        let name = try database.first("SELECT name FROM topic WHERE id = ?1", .integer(id)) { $0.text(0) }
        guard let name, let topic = try? Topic(name) else {
            throw .damaged(path: database.path, detail: "topic \(id) is missing or invalid")
        }
        topicIDs[name] = id
        topics[id] = topic
        return topic
    }

    /// An empty outbox needs no topics; a program that makes up a topic for each message must not grow the file.
    private func forgetTopics() throws(StorageError) {
        guard topicIDs.count > 64 else { return }
        try dropUnusedTopics()
    }

    func forgetKnownTopics() {
        topicIDs = [:]
        topics = [:]
    }

    private func dropUnusedTopics() throws(StorageError) {
        try database.run("DELETE FROM topic WHERE id NOT IN (SELECT topic FROM message)")
        let left = try database.first("SELECT count(*) FROM topic") { Int($0.int64(0)) } ?? 0
        topicLimit = max(Self.firstTopicLimit, 2 * left)
        forgetKnownTopics()
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

extension OutboxShare {
    fileprivate init(flags: Int64) {
        self =
            switch (flags & 8 != 0, flags >> 4) {
            case (false, _): .telemetry
            case (true, 0): .unbounded
            case (true, let user): .user(UInt32(truncatingIfNeeded: user - 1))
            }
    }
}

extension Date {
    /// From the stored form.
    init(milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1000) }
    var milliseconds: Int64 { Int64((timeIntervalSince1970 * 1000).rounded()) }
}
