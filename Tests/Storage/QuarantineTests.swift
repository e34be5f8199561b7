import Foundation
import Testing

@testable import Storage

@Suite("Quarantine of a damaged database")
struct QuarantineTests {
    let workplace = try! Workplace()  // Without a temporary directory there is nothing to test.
    /// 2026-11-21T02:03:04Z
    let now = Date(timeIntervalSince1970: 1_795_226_584)

    @Test("a damaged database is set aside under a dated name with log and index, and a new one created")
    func setAside() throws {
        let garbage = Data(repeating: 0x41, count: 5000)
        try workplace.write(garbage)
        for suffix in ["-wal", "-shm"] {
            try Data(suffix.utf8).write(to: URL(fileURLWithPath: workplace.path + suffix))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: workplace.path + suffix)
        }
        let (database, setAside) = try Database.openSettingAsideDamage(
            path: workplace.path, migrations: Workplace.notes, now: now)
        try database.note("a")
        database.close()
        #expect(setAside == workplace.path + ".damaged-2026-11-21T02-03-04Z")
        #expect(try workplace.bytes(".damaged-2026-11-21T02-03-04Z") == garbage)
        #expect(try workplace.bytes(".damaged-2026-11-21T02-03-04Z-wal") == Data("-wal".utf8))
        // SQLite may have begun to write this one anew: it is an index of the log.
        #expect(try workplace.files().contains("test.db.damaged-2026-11-21T02-03-04Z-shm"))
        #expect(try workplace.open().notes() == ["a"])
    }

    @Test("a damaged database never replaces one set aside before")
    func twice() throws {
        for letter in ["A", "B", "C"] {
            try workplace.write(Data(String(repeating: letter, count: 5000).utf8))
            _ = try Database.openSettingAsideDamage(path: workplace.path, migrations: Workplace.notes, now: now)
        }
        let base = ".damaged-2026-11-21T02-03-04Z"
        for (suffix, letter) in [("", "A"), ("-2", "B"), ("-3", "C")] {
            #expect(try workplace.bytes(base + suffix).first == Data(letter.utf8).first)
        }
    }

    @Test(
        "the newest damaged files stay set aside when there is another, and all are erased on request")
    func bounded() throws {
        func damaged() -> [String] { SetAsideFiles.paths(of: workplace.path).map { String($0.suffix(22)) } }
        for day in 1...9 {
            // A segment of the same store beside it.
            let path = day % 2 == 0 ? workplace.path : workplace.path + "-0000000000000001"
            try Data("payload".utf8).write(to: URL(filePath: path))
            chmod(path, 0o600)
            _ = try Database.setAside(path, now: now.addingTimeInterval(Double(day) * 86_400))
        }
        // Not of this store.
        let other = workplace.path.replacing("test.db", with: "other.db") + ".damaged-2026-11-22T02-03-04Z"
        try Data("payload".utf8).write(to: URL(filePath: other))
        let earlier = SetAsideFiles.paths(of: workplace.path)
        SetAsideFiles.limit(earlier, of: workplace.path)
        #expect(damaged().count == 9 && damaged() == damaged().sorted())
        try workplace.write(Data(repeating: 0x41, count: 5000))
        // What is in use under another name keeps its content.
        #expect(link(earlier[0], workplace.path + "-in-use") == 0)
        #expect(link(earlier[1], workplace.path + "-kept") == 0 && link(earlier[8], workplace.path + "-last") == 0)
        _ = try Database.setAside(workplace.path, now: now.addingTimeInterval(3600))
        SetAsideFiles.limit(earlier, of: workplace.path)
        // The one that is new stays whatever its date is: clocks go wrong.
        #expect(
            damaged()
                == ["2026-11-21T03-03-04Z", "2026-11-28T02-03-04Z", "2026-11-29T02-03-04Z", "2026-11-30T02-03-04Z"].map
            { String(".damaged-\($0)".suffix(22)) })
        #expect(try workplace.bytes("-in-use") == Data("payload".utf8))
        unlink(workplace.path + "-last")
        SetAsideFiles.erase(of: workplace.path)
        #expect(damaged() == [] && FileManager.default.fileExists(atPath: other))
    }

    @Test("a damaged database is distinguished from a sound one, a newer one and one open to others, which stay")
    func others() throws {
        try workplace.fill(notes: 2)
        let sound = try Database.openSettingAsideDamage(path: workplace.path, migrations: Workplace.notes)
        #expect(sound.setAside == nil)
        sound.database.close()
        #expect(throws: StorageError.newerVersion(path: workplace.path, found: 1, supported: 0)) {
            try Database.openSettingAsideDamage(path: workplace.path, migrations: [])
        }
        try workplace.setMode(0o640)
        #expect(throws: StorageError.permissionsTooOpen(path: workplace.path, mode: 0o640)) {
            try Database.openSettingAsideDamage(path: workplace.path, migrations: Workplace.notes)
        }
        #expect(try workplace.files().allSatisfy { !$0.contains("damaged") })
        try workplace.setMode(0o600)
        #expect(try workplace.open().notes().count == 2)
    }
}

@Suite("A database created as a whole")
struct CreationTests {
    let workplace = try! Workplace()  // Without a temporary directory there is nothing to test.

    @Test("a database created as a whole has its name only once it is filled")
    func whole() throws {
        // What a crash while filling leaves behind.
        try Data("half".utf8).write(to: URL(fileURLWithPath: workplace.path + ".new"))
        try Database.create(at: workplace.path, migrations: Workplace.notes) { database in
            #expect(try workplace.files().contains("test.db") == false)
            try database.note("a")
        }
        #expect(try workplace.files() == ["test.db"])
        #expect(try workplace.open { $0.creates = false }.notes() == ["a"])
    }

    @Test("a database created as a whole leaves nothing when filling fails")
    func failing() throws {
        struct Refusal: Error {}
        #expect(throws: Refusal.self) {
            try Database.create(at: workplace.path, migrations: Workplace.notes) { _ in throw Refusal() }
        }
        #expect(try workplace.files() == [])
    }

    @Test("a database created as a whole never replaces an existing file, even an empty one")
    func existing() throws {
        try workplace.write(Data())
        #expect(throws: StorageError.cannotOpen(path: workplace.path, reason: "it already exists")) {
            try Database.create(at: workplace.path, migrations: Workplace.notes) { _ in }
        }
        #expect(throws: StorageError.damaged(path: workplace.path, detail: "the file is empty")) {
            try workplace.open { $0.creates = false }
        }
    }
}
