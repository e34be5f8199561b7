import CSQLite

/// One SQLite connection. Closed with the last reference, be it the database's or a statement's.
///
/// `SQLITE_OPEN_NOMUTEX`: SQLite does no locking of its own, so a connection belongs to one actor.
final class SQLiteConnection {
    let path: String
    /// `nil` once closed.
    private(set) var handle: OpaquePointer?

    private static let engine: Int32 = {
        // Fails only if another part of the process has used SQLite before; its settings then stay.
        _ = latchkey_sqlite_configure()
        return sqlite3_initialize()
    }()

    /// Opens an existing file.
    init(path: String) throws(StorageError) {
        self.path = path
        guard Self.engine == SQLITE_OK else {
            throw StorageError.cannotOpen(path: path, reason: "SQLite does not start (code \(Self.engine))")
        }
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let status = sqlite3_open_v2(path, &handle, flags, nil)
        guard status == SQLITE_OK else {
            let error = failure(status)
            close()
            throw error
        }
    }

    deinit { close() }

    /// SQLite keeps the connection alive until its remaining statements are freed (`sqlite3_close_v2`).
    func close() {
        guard let open = handle else { return }
        handle = nil
        _ = sqlite3_close_v2(open)
    }

    func opened() throws(StorageError) -> OpaquePointer {
        guard let handle else { throw StorageError.closed(path: path) }
        return handle
    }

    func check(_ status: Int32) throws(StorageError) {
        guard status == SQLITE_OK else { throw failure(status) }
    }

    /// The error for a result code that this connection has just returned.
    func failure(_ status: Int32) -> StorageError {
        let text = handle.flatMap { sqlite3_errmsg($0) } ?? sqlite3_errstr(status)
        return StorageError(
            code: status, systemError: handle.map { sqlite3_system_errno($0) } ?? 0, path: path,
            reason: text.map { String(cString: $0) } ?? "no reason given")
    }

    /// Runs one or several statements that take no values and whose rows do not matter.
    func execute(_ sql: String) throws(StorageError) {
        try check(sqlite3_exec(try opened(), sql, nil, nil, nil))
    }
}
