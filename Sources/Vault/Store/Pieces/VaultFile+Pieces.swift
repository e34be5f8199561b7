import Cryptography
import Storage

/// The rows of pieces. Those of a value that is being written are named in a table of their own, until its record names
/// them.
extension VaultFile {
    func beginPieces(_ id: Int64) throws {
        try database.run("INSERT INTO draft (id) VALUES (?1)", .integer(id))
    }

    func putPiece(_ number: Int, of name: RecordName, _ id: Int64, _ sealed: [UInt8]) throws {
        try database.run(
            "INSERT INTO piece (scope, name, version, n, sealed) VALUES (?1, ?2, ?3, ?4, ?5)",
            .text(name.scope), .text(name.name), .integer(id), .integer(Int64(number)), .blob(sealed))
    }

    /// - Returns: `nil` if it is missing, or not genuine.
    func piece(_ number: Int, of name: RecordName, _ value: LargeValue, _ seal: Seal) throws -> SecretBytes? {
        let sealed = try database.first(
            "SELECT sealed FROM piece WHERE scope = ?1 AND name = ?2 AND version = ?3 AND n = ?4",
            .text(name.scope), .text(name.name), .integer(value.id), .integer(Int64(number)), read: { $0.blob(0) })
        return try sealed.flatMap { try seal.open(piece: $0, number, of: name, value) }
    }

    func pieceCount(of name: RecordName, _ id: Int64) throws -> Int {
        Int(
            try database.first(
                "SELECT count(*) FROM piece WHERE scope = ?1 AND name = ?2 AND version = ?3",
                .text(name.scope), .text(name.name), .integer(id), read: { $0.int64(0) }) ?? 0)
    }

    /// Removes the pieces of a record that is replaced or removed, but not those that are being written.
    ///
    /// - Parameter kept: the number of those that stay, which are no longer being written.
    func removePieces(of name: RecordName, except kept: Int64?) throws {
        if let kept { try database.run("DELETE FROM draft WHERE id = ?1", .integer(kept)) }
        try database.run(
            "DELETE FROM piece WHERE scope = ?1 AND name = ?2 AND version <> ?3 "
                + "AND version NOT IN (SELECT id FROM draft)",
            .text(name.scope), .text(name.name), .integer(kept ?? 0))
    }

    /// Removes what was being written, all of it or one value.
    func removeDrafts(_ id: Int64? = nil) throws {
        let which = id.map { " WHERE id = \($0)" } ?? ""
        try database.transaction {
            try database.run("DELETE FROM piece WHERE version IN (SELECT id FROM draft\(which))")
            try database.run("DELETE FROM draft\(which)")
        }
    }

    func hasDrafts() throws -> Bool { try database.first("SELECT 1 FROM draft", read: { _ in true }) ?? false }

    /// The names and numbers of values that have pieces and are not being written, at most so many.
    func valuesInPieces(most: Int) throws -> [(name: RecordName, id: Int64)] {
        try database.rows(
            "SELECT DISTINCT scope, name, version FROM piece WHERE version NOT IN (SELECT id FROM draft) LIMIT ?1",
            .integer(Int64(most)),
            read: { (RecordName(scope: $0.text(0), name: $0.text(1)), $0.int64(2)) })
    }
}
