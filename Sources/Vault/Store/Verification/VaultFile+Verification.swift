import Cryptography
import Storage

/// What the checks of a whole vault read of its file.
extension VaultFile {
    /// A row of the records, with what shows without a key whether it can be one.
    struct RecordRow {
        /// SQLite's own number of the row.
        let id: Int64
        /// As the file has it.
        let name: RecordName
        let hasShape: Bool
    }

    /// The most pages and keys that are looked at; one more is more than a vault can have.
    private static let rowLimit = Int64(ManifestRoot.recordLimit) + 1

    /// The number of the last row of the records; `nil` if there is none.
    func lastRow() throws -> Int64? {
        try database.first(
            "SELECT rowid FROM record ORDER BY rowid DESC LIMIT 1", read: { $0.int64(0) })
    }

    /// Rows of the records whose numbers are in a range, in order.
    func rows(_ range: ClosedRange<Int64>, most: Int) throws -> [RecordRow] {
        let sealed = Int64(Seal.leastBytes)...Int64(Seal.leastBytes + Change.contentLimit)
        return try database.rows(
            "SELECT rowid, scope, name, kind, version, length(sealed) FROM record "
                + "WHERE rowid BETWEEN ?1 AND ?2 ORDER BY rowid LIMIT ?3",
            .integer(range.lowerBound), .integer(range.upperBound), .integer(Int64(most)),
            read: { row in
                let name = RecordName(scope: row.text(1), name: row.text(2))
                return RecordRow(
                    id: row.int64(0), name: name,
                    hasShape: name.isAllowed && RecordKind(rawValue: row.text(3)).isAllowed && row.int64(4) >= 1
                        && sealed.contains(row.int64(5)))
            })
    }

    /// The numbers of all pages, and whether each has the length of one.
    func pageRows() throws -> [(id: Int64, hasShape: Bool)] {
        try database.rows(
            "SELECT id, length(sealed) FROM page ORDER BY id LIMIT ?1", .integer(Self.rowLimit),
            read: { ($0.int64(0), $0.int64(1) > Seal.leastBytes) })
    }

    /// The numbers of all data keys, and whether each has the level and the length of one.
    func keyRows() throws -> [(id: Int64, hasShape: Bool)] {
        try database.rows(
            "SELECT id, level, length(wrapped) FROM key ORDER BY id LIMIT ?1", .integer(Self.rowLimit),
            read: {
                let (level, length) = (ProtectionLevel(rawValue: $0.text(1)), $0.int64(2))
                let isWrappedTwice = length == Int64(2 * Seal.leastBytes + Seal.keyBytes)
                return (
                    $0.int64(0),
                    level != nil && length == Int64(Seal.leastBytes + Seal.keyBytes)
                        || level?.isBehindPasscode == true && isWrappedTwice
                )
            })
    }

    /// Whether the list of records has the length of one.
    func listHasShape() throws -> Bool {
        try database.first("SELECT length(root) FROM vault", read: { $0.int64(0) > Seal.leastBytes }) ?? false
    }
}

extension Seal {
    /// Bytes that sealed content has more than its plain text: a nonce and a tag.
    static let leastBytes = 28
}
