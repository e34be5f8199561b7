import CSQLite

/// A value to bind to a statement.
public enum Value: Sendable, Equatable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])
}

extension Value: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
    ExpressibleByNilLiteral
{
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(floatLiteral value: Double) { self = .real(value) }
    public init(stringLiteral value: String) { self = .text(value) }
    public init(nilLiteral: ()) { self = .null }
}

/// A prepared statement: bind, step through the rows, reset.
///
/// An unfinished statement holds a read transaction open, which keeps the log from being written back: step to the
/// end or call ``reset()``. ``Database/run(_:_:)`` and ``Database/rows(_:_:read:)`` do so by themselves.
public final class Statement {
    private let connection: SQLiteConnection
    private let handle: OpaquePointer

    /// - Throws: ``StorageError/refused(path:reason:)`` for SQL that does not parse, or an error of the file.
    init(_ sql: String, on connection: SQLiteConnection) throws(StorageError) {
        self.connection = connection
        var handle: OpaquePointer?
        let status = sqlite3_prepare_v3(
            try connection.opened(), sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil)
        try connection.check(status)
        guard let handle else {
            throw StorageError.refused(path: connection.path, reason: "there is no statement in the SQL")
        }
        self.handle = handle
    }

    deinit { sqlite3_finalize(handle) }

    /// Whether rows are still to come, so that the statement is in use.
    var isBusy: Bool { sqlite3_stmt_busy(handle) != 0 }

    /// Gives the parameters `?1`, `?2`, … their values, and starts the statement from the beginning.
    public func bind(_ values: [Value]) throws(StorageError) {
        reset()
        guard values.count == Int(sqlite3_bind_parameter_count(handle)) else {
            throw StorageError.refused(
                path: connection.path,
                reason: "\(values.count) values for \(sqlite3_bind_parameter_count(handle)) parameters")
        }
        for (index, value) in zip(Int32(1)..., values) { try connection.check(bind(value, at: index)) }
    }

    private func bind(_ value: Value, at index: Int32) -> Int32 {
        switch value {
        case .null: sqlite3_bind_null(handle, index)
        case .integer(let number): sqlite3_bind_int64(handle, index, number)
        case .real(let number): sqlite3_bind_double(handle, index, number)
        case .text(var text):
            text.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) {
                    latchkey_sqlite_bind_text(handle, index, $0.baseAddress, UInt64($0.count))
                }
            }
        case .blob(let bytes):
            bytes.withUnsafeBytes { latchkey_sqlite_bind_blob(handle, index, $0.baseAddress, UInt64($0.count)) }
        }
    }

    /// Goes to the next row; `false` if there is none, and the statement is then reset.
    public func step() throws(StorageError) -> Bool {
        _ = try connection.opened()
        let status = sqlite3_step(handle)
        switch status {
        case SQLITE_ROW: return true
        case SQLITE_DONE:
            reset()
            return false
        default:
            let error = connection.failure(status)
            reset()
            throw error
        }
    }

    /// Ends the statement and forgets its values.
    public func reset() {
        // Returns the failure of the last step, which has already been thrown.
        _ = sqlite3_reset(handle)
        _ = sqlite3_clear_bindings(handle)
    }

    // MARK: Columns of the present row, counted from 0; converted as SQLite does where the type differs.

    public func int64(_ column: Int) -> Int64 { sqlite3_column_int64(handle, Int32(column)) }
    public func double(_ column: Int) -> Double { sqlite3_column_double(handle, Int32(column)) }
    public func isNull(_ column: Int) -> Bool { sqlite3_column_type(handle, Int32(column)) == SQLITE_NULL }

    /// Invalid UTF-8 is replaced by U+FFFD.
    public func text(_ column: Int) -> String {
        guard let start = sqlite3_column_text(handle, Int32(column)) else { return "" }
        let count = Int(sqlite3_column_bytes(handle, Int32(column)))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    public func blob(_ column: Int) -> [UInt8] {
        guard let start = sqlite3_column_blob(handle, Int32(column)) else { return [] }
        let count = Int(sqlite3_column_bytes(handle, Int32(column)))
        return [UInt8](UnsafeRawBufferPointer(start: start, count: count))
    }
}
