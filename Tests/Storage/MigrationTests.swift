import Foundation
import Testing

@testable import Storage

@Suite("Migrations")
struct MigrationTests {
    let workplace = try! Workplace()  // Without a temporary directory there is nothing to test.
    let second = Migration(version: 2, sql: "ALTER TABLE note ADD COLUMN color TEXT; UPDATE note SET color = 'red'")

    @Test("migrations bring a file of any age to the newest version, each once")
    func order() throws {
        let old = try workplace.open()
        try old.note("a")
        old.close()
        for _ in 0..<2 {
            let new = try workplace.open(Workplace.notes + [second])
            #expect(try new.setting("user_version") == "2")
            #expect(try new.first("SELECT color FROM note", read: { $0.text(0) }) == "red")
            new.close()
        }
    }

    @Test("migrations that fail leave the version and rows as they were")
    func failing() throws {
        try workplace.fill(notes: 3)
        let broken = Migration(version: 2, sql: "DELETE FROM note; INSERT INTO nowhere VALUES (1)")
        #expect(throws: StorageError.self) { try workplace.open(Workplace.notes + [broken]) }
        let database = try workplace.open()
        #expect(try database.notes().count == 3)
        #expect(try database.setting("user_version") == "1")
    }

    @Test("migrations refuse a file of a newer program and leave it and its log as they are")
    func newer() throws {
        let new = try workplace.open(Workplace.notes + [second])
        try new.note("a")
        let left = try workplace.cutPower()
        let before = try (left.bytes(), left.bytes("-wal"))
        #expect(before.1.count > 0)
        #expect(throws: StorageError.newerVersion(path: left.path, found: 2, supported: 1)) { try left.open() }
        #expect(try left.bytes() == before.0)
        #expect(try left.bytes("-wal") == before.1)
    }
}
