import Foundation
import Testing

@testable import Storage

@Suite("A database")
struct DatabaseTests {
    let workplace = try! Workplace()  // Without a temporary directory there is nothing to test.

    @Test("a database uses WAL and full sync, and erases deleted content")
    func settings() throws {
        let database = try workplace.open()
        #expect(try database.setting("journal_mode") == "wal")
        #expect(try database.setting("synchronous") == "2")
        #expect(try database.setting("secure_delete") == "1")
        #expect(try database.setting("journal_size_limit") == String(1 << 20))
    }

    @Test("a database is readable by its owner only, with its log and index, whatever the umask")
    func modes() async {
        // In a process of its own, since the umask belongs to all tests.
        await #expect(processExitsWith: .success) {
            umask(0)
            let workplace = try Workplace()
            let database = try workplace.open()
            try database.note("a")
            for suffix in ["", "-wal", "-shm"] { #expect(try workplace.mode(suffix) == 0o600) }
        }
    }

    @Test("a database open to others is refused and named")
    func tooOpen() throws {
        try workplace.fill(notes: 1)
        try workplace.setMode(0o644)
        #expect(throws: StorageError.permissionsTooOpen(path: workplace.path, mode: 0o644)) { try workplace.open() }
    }

    @Test("a database returns every type of value unchanged, including empty ones")
    func values() throws {
        let database = try workplace.open()
        let values: [Value] = [
            .integer(.min), .real(-0.5), .text("a\u{0}é"), .text(""), .blob([0, 255]), .blob([]), .null,
        ]
        let statement = try database.prepare("SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, typeof(?4), typeof(?6)")
        try statement.bind(values)
        #expect(try statement.step())
        #expect(statement.int64(0) == .min)
        #expect(statement.double(1) == -0.5)
        #expect(statement.text(2) == "a\u{0}é")
        #expect(statement.text(3) == "" && !statement.isNull(3))
        #expect(statement.blob(4) == [0, 255])
        #expect(statement.blob(5) == [] && !statement.isNull(5))
        #expect(statement.isNull(6))
        #expect([statement.text(7), statement.text(8)] == ["text", "blob"])
        #expect(try !statement.step())
    }

    @Test("a database refuses more or fewer values than the statement has parameters")
    func count() throws {
        let database = try workplace.open()
        #expect(throws: StorageError.self) { try database.run("SELECT ?1, ?2", 1) }
        #expect(throws: StorageError.self) { try database.run("SELECT ?1", 1, 2) }
    }

    @Test("a database caches statements, and makes a second one if the first is in use")
    func statements() throws {
        let database = try workplace.open()
        for text in ["a", "b"] { try database.note(text) }
        let sql = "SELECT text FROM note ORDER BY id"
        let outer = try database.prepare(sql)
        #expect(try database.prepare(sql) === outer)
        #expect(try outer.step())
        let inner = try database.prepare(sql)
        #expect(inner !== outer)
        #expect(try inner.step() && inner.text(0) == "a")
        #expect(try outer.step() && outer.text(0) == "b")
    }

    @Test("a database reports how many rows changed and which was inserted last")
    func changes() throws {
        let database = try workplace.open()
        for text in ["a", "b", "c"] { try database.note(text) }
        #expect(try database.lastInsertedRow == 3)
        #expect(try database.run("DELETE FROM note WHERE id > ?1", 1) == 2)
        #expect(try database.notes() == ["a"])
    }

    @Test("a database does all of a transaction or nothing of it")
    func transaction() throws {
        struct Refusal: Error {}
        let database = try workplace.open()
        #expect(throws: Refusal.self) {
            try database.transaction {
                try database.note("a")
                throw Refusal()
            }
        }
        #expect(try database.notes() == [])
        #expect(
            try database.transaction {
                try database.note("b")
                return 7
            } == 7)
        #expect(try database.notes() == ["b"])
    }

    @Test("a database has the old state after a power cut in a transaction, the new one after its commit")
    func powerCut() throws {
        let database = try workplace.open { _ in }
        try database.note("old")
        try database.execute("PRAGMA cache_size = 1; PRAGMA cache_spill = ON")
        var within: Workplace?
        try database.transaction {
            // More than the cache holds, so that pages reach the log before the commit.
            for number in 0..<200 { try database.note("\(number) " + String(repeating: "x", count: 1000)) }
            within = try workplace.cutPower()
        }
        let after = try workplace.cutPower()
        #expect(try within?.open().notes() == ["old"])
        #expect(try after.open().notes().count == 201)
    }

    @Test("a database has no deleted content in its files once the log is written back")
    func secureDelete() throws {
        let database = try workplace.open()
        try database.note("plain-words-of-a-note")
        try database.checkpoint()
        #expect(try workplace.bytes().range(of: Data("plain-words-of-a-note".utf8)) != nil)
        try database.run("DELETE FROM note")
        try database.checkpoint()
        #expect(try workplace.bytes().range(of: Data("plain-words-of-a-note".utf8)) == nil)
        #expect(try workplace.bytes("-wal").isEmpty)
    }

    @Test("a database cuts its log back after a transaction that made it long")
    func logLimit() throws {
        let database = try workplace.open { $0.logBytes = 100_000 }
        try database.transaction {
            for number in 0..<500 { try database.note("\(number) " + String(repeating: "x", count: 4000)) }
        }
        #expect(try workplace.bytes("-wal").count > 2_000_000)
        // The commit has written the log back; the next one begins it anew, within the limit.
        try database.note("next")
        #expect(try workplace.bytes("-wal").count <= 100_000)
    }

    @Test("a database that is closed has its log written back, and fails later calls with that reason")
    func closed() throws {
        let database = try workplace.open()
        try database.note("a")
        database.close()
        #expect(try workplace.files() == ["test.db"])
        #expect(throws: StorageError.closed(path: workplace.path)) { try database.note("b") }
    }

    @Test("a database may be closed while a statement is in use")
    func closedUnderStatement() throws {
        let database = try workplace.open()
        let statement = try database.prepare("SELECT 'a' UNION ALL SELECT 'b'")
        #expect(try statement.step())
        database.close()
        #expect(statement.text(0) == "a")
        #expect(throws: StorageError.closed(path: workplace.path)) { try statement.step() }
    }
}
