import Foundation

@testable import Storage

/// A temporary directory with a database's files in it, removed with its last reference.
final class Workplace {
    let directory: String
    var path: String { directory + "/test.db" }

    init() throws {
        directory = FileManager.default.temporaryDirectory.path + "/latchkey-storage-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    static let notes = [
        Migration(version: 1, sql: "CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT")
    ]

    func open(_ migrations: [Migration] = notes, _ adjust: (inout Database.Options) -> Void = { _ in }) throws
        -> Database
    {
        var options = Database.Options()
        adjust(&options)
        return try Database(path: path, migrations: migrations, options: options)
    }

    /// Makes a closed database with this many notes of 100 letters.
    func fill(notes: Int) throws {
        let database = try open()
        try database.transaction {
            for number in 0..<notes { try database.note("\(number) " + String(repeating: "x", count: 100)) }
        }
        database.close()
    }

    func bytes(_ suffix: String = "") throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path + suffix)) }
    func write(_ bytes: Data) throws {
        try bytes.write(to: URL(fileURLWithPath: path))
        try setMode(0o600)
    }

    func files() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: directory).sorted() }
    func mode(_ suffix: String = "") throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path + suffix)[.posixPermissions] as? Int
    }
    func setMode(_ mode: Int) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    /// The files as a power cut at this moment would leave them.
    func cutPower() throws -> Workplace {
        let copy = try Workplace()
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: path + suffix, toPath: copy.path + suffix)
        }
        return copy
    }
}

extension Database {
    func note(_ text: String) throws { try run("INSERT INTO note (text) VALUES (?1)", .text(text)) }
    func notes() throws -> [String] { try rows("SELECT text FROM note ORDER BY id", read: { $0.text(0) }) }
    func setting(_ name: String) throws -> String? { try first("PRAGMA \(name)", read: { $0.text(0) }) }
}
