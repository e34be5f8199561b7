import Foundation
import Groundwork
import Testing

@testable import Storage

@Suite("A failing database")
struct FailureTests {
    let workplace = try! Workplace()  // Without a temporary directory there is nothing to test.

    @Test("a database that is full says so and keeps what it had")
    func full() throws {
        let database = try workplace.open()
        try database.note("kept")
        try database.execute("PRAGMA max_page_count = 8")
        #expect(throws: StorageError.full(path: workplace.path)) {
            try database.transaction {
                for number in 0..<100 { try database.note("\(number) " + String(repeating: "x", count: 4000)) }
            }
        }
        #expect(try database.notes() == ["kept"])
        try database.note("short")
    }

    @Test("a database that another process holds says so after the busy timeout")
    func busy() throws {
        let first = try workplace.open()
        let second = try workplace.open { $0.busyTimeout = .milliseconds(20) }
        try first.transaction {
            #expect(throws: StorageError.busy(path: workplace.path)) { try second.note("a") }
        }
        try second.note("a")
    }

    @Test("a database that may not be written says so")
    func readOnly() throws {
        let database = try workplace.open()
        try database.execute("PRAGMA query_only = ON")
        #expect(throws: StorageError.readOnly(path: workplace.path)) { try database.note("a") }
    }

    @Test("a database that is missing is not created unless requested")
    func missing() throws {
        #expect(throws: StorageError.missing(path: workplace.path)) { try workplace.open { $0.creates = false } }
        #expect(try workplace.files() == [])
    }

    @Test("a database in no directory, or that is one, names the reason")
    func cannotOpen() throws {
        let nowhere = workplace.directory + "/none/test.db"
        #expect(throws: StorageError.cannotOpen(path: nowhere, reason: "No such file or directory")) {
            try Database(path: nowhere, migrations: [])
        }
        #expect(throws: StorageError.cannotOpen(path: workplace.directory, reason: "not a regular file")) {
            try Database(path: workplace.directory, migrations: [])
        }
    }

    @Test(
        "a database that was lost leaves a log that is set aside, not replayed into the new database"
    )
    func leftOverLog() throws {
        let former = try workplace.open()
        try former.note("former")
        // As whoever removes the one file of a process that was killed leaves the others, or a check of the file
        // system.
        let left = try workplace.bytes("-wal")
        former.close()
        for name in try workplace.files() {
            try FileManager.default.removeItem(atPath: "\(workplace.directory)/\(name)")
        }
        try left.write(to: URL(fileURLWithPath: workplace.path + "-wal"))
        try Data("journal".utf8).write(to: URL(fileURLWithPath: workplace.path + "-journal"))

        try Database.create(at: workplace.path, migrations: Workplace.notes) { try $0.note("new") }
        let made = try workplace.open()
        #expect(try made.notes() == ["new"])
        made.close()
        let kept = try workplace.files().filter { $0.contains(".damaged-") }
        #expect(kept.map { $0.split(separator: "-").last }.suffix(2) == ["journal", "wal"])
        #expect(try Data(contentsOf: URL(fileURLWithPath: "\(workplace.directory)/\(try #require(kept.last))")) == left)
    }

    @Test("a database is distinguished from a file that is not a database")
    func notADatabase() throws {
        try workplace.write(Data(repeating: 0x41, count: 8192))
        #expect(throws: StorageError.notADatabase(path: workplace.path)) { try workplace.open() }
    }

    @Test("a database with its end cut off is detected at open, and not touched", arguments: [1, 2, 3])
    func truncated(quarters: Int) throws {
        try workplace.fill(notes: 500)
        let cut = try workplace.bytes().prefix(workplace.bytes().count / 4 * quarters)
        try workplace.write(cut)
        let error = try #require(throws: StorageError.self) { try workplace.open() }
        #expect(error.isDamage)
        #expect(try workplace.bytes() == cut)
    }

    @Test("a database with an overwritten page is detected at open if small, at the read if large")
    func overwritten() throws {
        try workplace.fill(notes: 500)
        var bytes = try workplace.bytes()
        // The head of every page but the first three, which hold the schema and the roots.
        for page in stride(from: 3 * 4096, to: bytes.count, by: 4096) {
            bytes.replaceSubrange(page..<page + 16, with: Data(count: 16))
        }
        try workplace.write(bytes)
        let error = try #require(throws: StorageError.self) { try workplace.open() }
        #expect(error.code == "storage.damaged")
        let unchecked = try workplace.open { $0.checkedBytes = 1000 }
        #expect(try #require(throws: StorageError.self) { try unchecked.notes() }.code == "storage.damaged")
    }

    @Test("a database refuses a value beyond its limit")
    func valueLimit() throws {
        let database = try workplace.open { $0.valueBytes = 1000 }
        let error = try #require(throws: StorageError.self) { try database.note(String(repeating: "x", count: 2000)) }
        #expect(error.code == "storage.refused")
    }

    @Test(
        "a database whose files cannot grow reports a full or read-only disk, not a failed one",
        arguments: [10 | 19 << 8, 14])
    func systemErrors(status: Int32) {
        func error(_ systemError: Int32) -> StorageError {
            StorageError(code: status, systemError: systemError, path: "/state/vault.db", reason: "reason")
        }
        #expect(error(ENOSPC) == .full(path: "/state/vault.db"))
        #expect(error(EROFS) == .readOnly(path: "/state/vault.db"))
        #expect(["storage.input-output", "storage.cannot-open"].contains(error(EIO).code))
    }

    /// The result codes of https://www.sqlite.org/rescode.html, an extended one among them where there are several.
    static let resultCodes: [(status: Int32, code: String)] = [
        (5, "storage.busy"), (8, "storage.read-only"), (8 | 1 << 8, "storage.read-only"), (10, "storage.input-output"),
        (10 | 4 << 8, "storage.input-output"), (11, "storage.damaged"), (13, "storage.full"),
        (14, "storage.cannot-open"), (26, "storage.not-a-database"),
    ]

    @Test("a database has a separate error for each failure, with the path and a remedy", arguments: resultCodes)
    func codes(status: Int32, code: String) {
        let error = StorageError(code: status, path: "/state/vault.db", reason: "reason")
        #expect(error.code == code)
        #expect(error.message.contains("/state/vault.db"))
        #expect(error.remedy != nil)
    }
}
