import FoundationEssentials
import Storage

/// The database of all inboxes. Used by one actor.
final class InboxFile {
    /// A message before it has its number.
    typealias Row = (inbox: String, message: IncomingMessage)

    static let migrations = [
        Migration(
            version: 2,
            sql: """
                CREATE TABLE ledger (one INTEGER PRIMARY KEY CHECK (one = 1), owner TEXT) STRICT;
                INSERT INTO ledger VALUES (1, NULL);
                CREATE TABLE inbox (name TEXT PRIMARY KEY, dropped INTEGER NOT NULL) STRICT;
                CREATE TABLE filter (text TEXT PRIMARY KEY) STRICT;
                CREATE TABLE message (
                    id INTEGER PRIMARY KEY AUTOINCREMENT, inbox TEXT NOT NULL, size INTEGER NOT NULL,
                    received REAL NOT NULL, attempts INTEGER NOT NULL, dead INTEGER NOT NULL, qos INTEGER NOT NULL,
                    retained INTEGER NOT NULL, topic TEXT NOT NULL, payload BLOB NOT NULL) STRICT;
                CREATE INDEX place ON message (inbox, dead, id, size, received);
                CREATE TABLE run (
                    id INTEGER PRIMARY KEY AUTOINCREMENT, action TEXT NOT NULL, began REAL NOT NULL,
                    report BLOB NOT NULL) STRICT;
                CREATE INDEX ofAction ON run (action, id);
                -- The inboxes that were added while the agent ran.
                CREATE TABLE added (
                    name TEXT PRIMARY KEY, filter TEXT NOT NULL, qos INTEGER NOT NULL, limitBytes INTEGER NOT NULL,
                    limitMessages INTEGER NOT NULL, maxAgeSeconds INTEGER NOT NULL, retained INTEGER NOT NULL) STRICT;
                """)
    ]

    let database: Database
    /// What each inbox holds, without those that hold nothing and have dropped nothing. Counted once, when the file is
    /// opened, and kept up with each change: no change takes longer for what waits.
    private(set) var statuses: [String: InboxStatus] = [:]
    /// The newest number that each of them has had since, also of a message that is gone.
    private(set) var highest: [String: Int64] = [:]

    /// - Parameter checkingAll: whether a large file is checked as a whole, too.
    /// - Returns: the path of a damaged file that was set aside, if there was one.
    static func open(
        at path: String, checkingAll: Bool = false
    ) throws(StorageError) -> (file: InboxFile, setAside: String?) {
        var options = Database.Options()
        if checkingAll { options.checkedBytes = .max }
        let earlier = SetAsideFiles.paths(of: path)
        defer { SetAsideFiles.limit(earlier, of: path) }
        let (database, setAside) = try Database.openSettingAsideDamage(
            path: path, migrations: migrations, options: options)
        do throws(StorageError) {
            return (try InboxFile(database), setAside)
        } catch {
            database.close()
            guard error.isDamage, setAside == nil else { throw error }
            // Damage of a large file shows when its messages are counted.
            let setAside = try Database.setAside(path)
            return (try InboxFile(Database(path: path, migrations: migrations, options: options)), setAside)
        }
    }

    private init(_ database: Database) throws(StorageError) {
        self.database = database
        statuses = try counted()
        highest = statuses.compactMapValues(\.last)
    }

    /// Does all of `body` or nothing.
    func transaction<Result>(_ body: (InboxFile) throws -> Result) throws(StorageError) -> Result {
        let before = statuses
        do {
            return try database.transaction { try body(self) }
        } catch let error as StorageError {
            statuses = before
            throw error
        } catch {
            statuses = before
            throw .refused(path: database.path, reason: "\(error)")
        }
    }

    // MARK: Owner and filters

    /// Makes the file this owner's, without the messages of another one, also in what was set aside.
    ///
    /// - Returns: how many were dropped.
    func claim(for owner: String) throws(StorageError) -> Int {
        let past = try database.first("SELECT owner FROM ledger") { $0.isNull(0) ? nil : $0.text(0) } ?? nil
        guard past != owner else { return 0 }
        let dropped = try transaction { _ in
            let count = past == nil ? 0 : try removeEverything()
            try database.run("UPDATE ledger SET owner = ?1", .text(owner))
            return count
        }
        if past != nil {
            SetAsideFiles.erase(of: database.path)
            try database.checkpoint()
        }
        return dropped
    }

    /// Changes nothing, and takes a write as any change does.
    func rewriteOwner() throws(StorageError) { try database.run("UPDATE ledger SET owner = owner") }

    /// What the broker was asked for, before this start.
    func filters() throws(StorageError) -> Set<String> {
        Set(try database.rows("SELECT text FROM filter") { $0.text(0) })
    }

    func setFilters(_ filters: Set<String>) throws(StorageError) {
        try transaction { _ in
            try database.run("DELETE FROM filter")
            for filter in filters { try database.run("INSERT INTO filter VALUES (?1)", .text(filter)) }
        }
    }

    func removeFilter(_ filter: String) throws(StorageError) {
        try database.run("DELETE FROM filter WHERE text = ?1", .text(filter))
    }

    // MARK: Messages

    /// - Parameter isTimeCertain: whether the message's age follows from the time that it was received at.
    /// - Returns: its number.
    @discardableResult
    func append(_ row: Row, isTimeCertain: Bool = true) throws(StorageError) -> Int64 {
        let message = row.message
        let stamp = MessageStamp(message.receivedAt, isCertain: isTimeCertain)
        try database.run(
            "INSERT INTO message VALUES (NULL, ?1, ?2, ?3, 0, 0, ?4, ?5, ?6, ?7)", .text(row.inbox),
            .integer(Int64(message.keptSize)), .real(stamp.stored),
            .integer(Int64(message.qos.rawValue)), .integer(message.retained ? 1 : 0), .text(message.topic),
            .blob(message.payload))
        let id = try database.lastInsertedRow
        change(row.inbox) { status in
            status.unread += 1
            status.bytes += message.keptSize
            status.first = status.first ?? id
            status.last = id
            status.oldestStamp = status.oldestStamp ?? stamp
        }
        return id
    }

    /// The oldest messages after `id`; the first may be larger than `bytes`.
    func page(of inbox: String, after id: Int64, limit: Int, bytes: Int) throws(StorageError) -> [KeptMessage] {
        let statement = try database.prepare(
            """
            SELECT id, size, received, attempts, qos, retained, topic, payload FROM message
            WHERE inbox = ?1 AND dead = 0 AND id > ?2 ORDER BY id LIMIT ?3
            """)
        defer { statement.reset() }
        try statement.bind([.text(inbox), .integer(id), .integer(Int64(limit))])
        var (page, left) = ([KeptMessage](), bytes)
        while try statement.step() {
            left -= Int(statement.int64(1))
            guard left >= 0 || page.isEmpty else { break }
            page.append(
                KeptMessage(
                    id: statement.int64(0),
                    message: IncomingMessage(
                        topic: statement.text(6), payload: statement.blob(7),
                        qos: QoS(rawValue: Int(statement.int64(4))) ?? .atLeastOnce,
                        retained: statement.int64(5) != 0,
                        receivedAt: MessageStamp(stored: statement.double(2)).time),
                    attempts: Int(statement.int64(3))))
        }
        return page
    }

    /// The number of the newest message that any inbox has ever had; 0 before the first.
    func lastNumber() throws(StorageError) -> Int64 {
        try database.first("SELECT seq FROM sqlite_sequence WHERE name = 'message'") { $0.int64(0) } ?? 0
    }

    /// - Returns: how many there were.
    func remove(_ ids: ClosedRange<Int64>, of inbox: String) throws(StorageError) -> Int {
        let range: [Value] = [.text(inbox), .integer(ids.lowerBound), .integer(ids.upperBound)]
        let these = "FROM message WHERE inbox = ?1 AND dead = 0 AND id BETWEEN ?2 AND ?3"
        let bytes = try database.first("SELECT total(size) \(these)", range) { Int($0.int64(0)) } ?? 0
        let count = try database.run("DELETE \(these)", range)
        try changeEnds(of: inbox) { status in
            status.unread -= count
            status.bytes -= bytes
        }
        return count
    }

    func removeAll(of inbox: String) throws(StorageError) -> Int {
        let count = try database.run("DELETE FROM message WHERE inbox = ?1", .text(inbox))
        try changeEnds(of: inbox) { ($0.unread, $0.dead, $0.bytes) = (0, 0, 0) }
        return count
    }

    /// - Returns: how many messages there were.
    func removeEverything() throws(StorageError) -> Int {
        let count = try database.run("DELETE FROM message")
        for table in ["inbox", "run", "filter", "added"] { try database.run("DELETE FROM \(table)") }
        (statuses, highest) = ([:], [:])
        return count
    }

    /// A message as far as it counts.
    typealias Entry = (id: Int64, size: Int, received: MessageStamp, isDead: Bool)

    /// The oldest message of all, dead ones too.
    func oldest(of inbox: String) throws(StorageError) -> Entry? {
        try database.first(
            """
            SELECT id, size, received, dead FROM message
            WHERE id = (SELECT min(id) FROM message WHERE inbox = ?1 AND dead = 1)
                OR id = (SELECT min(id) FROM message WHERE inbox = ?1 AND dead = 0) ORDER BY id
            """, .text(inbox)
        ) { ($0.int64(0), Int($0.int64(1)), MessageStamp(stored: $0.double(2)), $0.int64(3) != 0) }
    }

    func drop(_ message: Entry, of inbox: String) throws(StorageError) {
        try database.run("DELETE FROM message WHERE id = ?1", .integer(message.id))
        try changeEnds(of: inbox) { status in
            if message.isDead { status.dead -= 1 } else { status.unread -= 1 }
            status.bytes -= message.size
        }
    }

    func count(dropped: Int, of inbox: String) throws(StorageError) {
        try database.run(
            "INSERT INTO inbox VALUES (?1, ?2) ON CONFLICT DO UPDATE SET dropped = dropped + ?2", .text(inbox),
            .integer(Int64(dropped)))
        change(inbox) { $0.dropped += dropped }
    }

    // MARK: What each holds

    func change(_ inbox: String, _ body: (inout InboxStatus) -> Void) {
        var status = statuses[inbox] ?? InboxStatus(name: inbox)
        body(&status)
        statuses[inbox] = status.unread + status.dead + status.dropped > 0 ? status : nil
        highest[inbox] = statuses[inbox] == nil ? nil : [highest[inbox], status.last].compactMap(\.self).max()
    }

    /// As ``change(_:_:)``, for a change after which other messages may be the oldest and the newest.
    func changeEnds(of inbox: String, _ body: (inout InboxStatus) -> Void) throws(StorageError) {
        let waiting = "FROM message WHERE inbox = ?1 AND dead = 0 ORDER BY id"
        let oldest = try database.first("SELECT id, received \(waiting) LIMIT 1", .text(inbox)) {
            (id: $0.int64(0), received: MessageStamp(stored: $0.double(1)))
        }
        let newest = try database.first("SELECT id \(waiting) DESC LIMIT 1", .text(inbox)) { $0.int64(0) }
        change(inbox) { status in
            body(&status)
            (status.first, status.oldestStamp, status.last) = (oldest?.id, oldest?.received, newest)
        }
    }

    /// All that is known of each inbox, from every message.
    private func counted() throws(StorageError) -> [String: InboxStatus] {
        var found: [String: InboxStatus] = [:]
        for (name, dropped) in try database.rows("SELECT name, dropped FROM inbox", read: { ($0.text(0), $0.int64(1)) })
        {
            found[name] = InboxStatus(name: name, dropped: Int(dropped))
        }
        let rows = try database.rows(
            """
            SELECT m.inbox, m.dead, m.messages, m.bytes, m.first, m.last, message.received FROM (
                SELECT inbox, dead, count(*) messages, sum(size) bytes, min(id) first, max(id) last
                FROM message GROUP BY inbox, dead) m JOIN message ON message.id = m.first
            """,
            read: {
                (
                    $0.text(0), $0.int64(1) != 0, Int($0.int64(2)), Int($0.int64(3)), $0.int64(4), $0.int64(5),
                    $0.double(6)
                )
            })
        for (name, isDead, count, bytes, first, last, received) in rows {
            var status = found[name] ?? InboxStatus(name: name)
            status.bytes += bytes
            if isDead {
                status.dead = count
            } else {
                (status.unread, status.first, status.last) = (count, first, last)
                status.oldestStamp = MessageStamp(stored: received)
            }
            found[name] = status
        }
        return found
    }
}

extension IncomingMessage {
    /// What the message counts against ``InboxPolicy/limitBytes``.
    var keptSize: Int { payload.count + topic.utf8.count + OutboxPolicy.rowOverhead }
}
