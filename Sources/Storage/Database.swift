import CSQLite
import Groundwork

/// A SQLite database that survives power going off at any moment: write-ahead log, full sync, mode 0600.
///
/// Not `Sendable`: it belongs to one actor, which runs on ``NamedThread/storage`` because every call may wait for the
/// disk.
///
///     let database = try Database(path: "/var/lib/latchkey/outbox.db", migrations: [
///         Migration(version: 1, sql: "CREATE TABLE message (id INTEGER PRIMARY KEY, payload BLOB NOT NULL) STRICT")
///     ])
///     try database.transaction {
///         try database.run("INSERT INTO message (payload) VALUES (?1)", .blob(payload))
///     }
public final class Database {
    public struct Options: Sendable {
        /// Whether a missing file is created, and an empty one filled.
        public var creates = true
        /// How long a statement waits for another process that holds the file.
        public var busyTimeout = Duration.seconds(5)
        /// Files up to this size are checked as a whole at open (`PRAGMA quick_check`); a larger one only in its header
        /// and schema, so that a start is never held up, and damage is reported when it is read.
        public var checkedBytes = 16 << 20
        /// Page cache, in KiB.
        public var cacheKiB = 256
        /// The largest row or value, in bytes, that is written, or read from a possibly hostile file.
        public var valueBytes = 16 << 20
        /// The write-ahead log is cut back to this many bytes whenever it has been written back.
        public var logBytes = 1 << 20

        public init() {}
    }

    /// Version of the running SQLite.
    public static var libraryVersion: String { String(cString: sqlite3_libversion()) }

    public let path: String
    private let connection: SQLiteConnection
    private var cache: [String: Statement] = [:]
    /// Statements kept; a program's SQL is constant text, so this is not reached in practice.
    private static let cacheLimit = 64

    /// Opens the file, checks it, and brings it to the newest version. On a full disk it opens as well: it can be read,
    /// and each write fails until there is room.
    ///
    /// - Parameter migrations: in ascending order of version.
    /// - Throws: ``StorageError``; the file is then as it was before.
    public convenience init(path: String, migrations: [Migration], options: Options = Options()) throws(StorageError) {
        do throws(StorageError) {
            try self.init(path: path, migrations, options, isShared: true)
        } catch .full {
            // SQLite has an index of its log in a file that other processes share, and a connection that shares nothing
            // has it in memory.
            try self.init(path: path, migrations, options, isShared: false)
        }
    }

    private init(
        path: String, _ migrations: [Migration], _ options: Options, isShared: Bool
    ) throws(StorageError) {
        self.path = path
        try DatabaseFile.prepare(path, creating: options.creates)
        connection = try SQLiteConnection(path: path)
        do throws(StorageError) {
            if !isShared { try execute("PRAGMA locking_mode = EXCLUSIVE") }
            try admit(supported: migrations.last?.version ?? 0, options)
            try configure(options)
            try migrate(migrations)
            // The pages that were checked; most are not needed again.
            try execute("PRAGMA shrink_memory")
        } catch {
            close()
            throw error
        }
    }

    /// Writes the log back and closes. Every later call throws ``StorageError/closed(path:)``.
    public func close() {
        cache.removeAll()
        connection.close()
    }

    // MARK: Opening

    /// Checks without writing whether this file is ours to use.
    private func admit(supported: Int, _ options: Options) throws(StorageError) {
        let handle = try connection.opened()
        // Until the file is known to be ours, even closing leaves its log where it is.
        try connection.check(latchkey_sqlite_leave_log(handle, 1))
        sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, Int32(clamping: options.valueBytes))
        try connection.check(sqlite3_busy_timeout(handle, Int32(clamping: options.busyTimeout.wholeMilliseconds)))
        guard sqlite3_db_readonly(handle, "main") == 0 else { throw StorageError.readOnly(path: path) }
        let found = try version()
        guard found <= supported else {
            throw StorageError.newerVersion(path: path, found: found, supported: supported)
        }
        // Every file of ours has a version from its first transaction on.
        guard found > 0 || options.creates else { throw StorageError.notADatabase(path: path) }
        if try DatabaseFile.size(of: path) <= options.checkedBytes { try check() }
        try connection.check(latchkey_sqlite_leave_log(handle, 0))
    }

    private func configure(_ options: Options) throws(StorageError) {
        try connection.check(latchkey_sqlite_defend(try connection.opened()))
        try execute(
            """
            PRAGMA journal_mode = WAL;
            PRAGMA synchronous = FULL;
            PRAGMA secure_delete = ON;
            PRAGMA foreign_keys = ON;
            PRAGMA trusted_schema = OFF;
            PRAGMA cell_size_check = ON;
            PRAGMA temp_store = MEMORY;
            PRAGMA wal_autocheckpoint = 256;
            PRAGMA journal_size_limit = \(options.logBytes);
            PRAGMA cache_size = -\(options.cacheKiB);
            """)
    }

    private func migrate(_ migrations: [Migration]) throws(StorageError) {
        for migration in migrations where try version() < migration.version {
            try execute("BEGIN IMMEDIATE")
            do throws(StorageError) {
                try execute(migration.sql)
                try execute("PRAGMA user_version = \(migration.version); COMMIT")
            } catch {
                rollBack()
                throw error
            }
        }
    }

    private func version() throws(StorageError) -> Int {
        Int(try first("PRAGMA user_version", read: { $0.int64(0) }) ?? 0)
    }

    /// Reads the whole file and checks its pages against each other.
    ///
    /// - Throws: ``StorageError/damaged(path:detail:)``
    public func check() throws(StorageError) {
        let verdict = try first("PRAGMA quick_check(1)", read: { $0.text(0) }) ?? "no verdict"
        guard verdict == "ok" else { throw StorageError.damaged(path: path, detail: verdict) }
    }

    // MARK: Statements

    /// Runs one or several statements that take no values.
    public func execute(_ sql: String) throws(StorageError) { try connection.execute(sql) }

    /// A statement from the cache, or a new one if that is in use.
    public func prepare(_ sql: String) throws(StorageError) -> Statement {
        if let known = cache[sql] {
            if !known.isBusy { return known }
            return try Statement(sql, on: connection)
        }
        let statement = try Statement(sql, on: connection)
        if cache.count >= Self.cacheLimit { cache.removeAll() }
        cache[sql] = statement
        return statement
    }

    /// Runs one statement to its end.
    ///
    /// - Returns: how many rows it inserted, changed or deleted.
    @discardableResult
    public func run(_ sql: String, _ values: Value...) throws(StorageError) -> Int { try run(sql, values) }

    @discardableResult
    public func run(_ sql: String, _ values: [Value]) throws(StorageError) -> Int {
        let statement = try prepare(sql)
        try statement.bind(values)
        while try statement.step() {}
        return Int(sqlite3_changes64(try connection.opened()))
    }

    /// Reads every row of a query.
    public func rows<Row>(_ sql: String, _ values: Value..., read: (Statement) -> Row) throws(StorageError) -> [Row] {
        let statement = try prepare(sql)
        try statement.bind(values)
        var rows: [Row] = []
        while try statement.step() { rows.append(read(statement)) }
        return rows
    }

    /// Reads the first row of a query, if there is one.
    public func first<Row>(_ sql: String, _ values: Value..., read: (Statement) -> Row) throws(StorageError) -> Row? {
        try first(sql, values, read: read)
    }

    public func first<Row>(_ sql: String, _ values: [Value], read: (Statement) -> Row) throws(StorageError) -> Row? {
        let statement = try prepare(sql)
        try statement.bind(values)
        defer { statement.reset() }
        return try statement.step() ? read(statement) : nil
    }

    /// The row id of the newest row inserted through this connection.
    public var lastInsertedRow: Int64 {
        get throws(StorageError) { sqlite3_last_insert_rowid(try connection.opened()) }
    }

    /// How many operations the statements of this connection that are still cached have taken, to measure what they
    /// cost without a clock.
    var operations: Int {
        get throws(StorageError) {
            let handle = try connection.opened()
            var (count, next) = (0, sqlite3_next_stmt(handle, nil))
            while let statement = next {
                count += Int(sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 0))
                next = sqlite3_next_stmt(handle, statement)
            }
            return count
        }
    }

    // MARK: Transactions

    /// Does all of `body` or nothing; what it did is on the disk when this returns. Transactions do not nest.
    ///
    /// - Throws: what `body` throws, or ``StorageError``; nothing has been changed then.
    @discardableResult
    public func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        try within("BEGIN IMMEDIATE", body)
    }

    /// Reads in one state of the database, whatever other processes write meanwhile.
    public func snapshot<Result>(_ body: () throws -> Result) throws -> Result {
        try within("BEGIN", body)
    }

    private func within<Result>(_ begin: String, _ body: () throws -> Result) throws -> Result {
        try run(begin)
        do {
            let result = try body()
            try run("COMMIT")
            return result
        } catch {
            rollBack()
            throw error
        }
    }

    private func rollBack() {
        // After a full disk or a failed write SQLite has rolled back already. If rolling back fails, SQLite does it
        // when the file is opened next: nothing of the transaction can become visible.
        guard let handle = connection.handle, sqlite3_get_autocommit(handle) == 0 else { return }
        try? execute("ROLLBACK")
    }

    /// Writes the log back into the database and empties it, so that nothing deleted lingers there.
    public func checkpoint() throws(StorageError) { try run("PRAGMA wal_checkpoint(TRUNCATE)") }
}
