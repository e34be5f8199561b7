/// One step in the life of a database's schema.
///
/// The version is kept in the file (`PRAGMA user_version`). Each step is one transaction; a published one is never
/// changed.
public struct Migration: Sendable {
    /// 1 for the first step, ascending.
    public let version: Int
    /// Any number of statements, without `BEGIN` and `COMMIT`.
    public let sql: String

    public init(version: Int, sql: String) {
        self.version = version
        self.sql = sql
    }
}
