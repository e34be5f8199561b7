import Cryptography
import Foundation
import Groundwork
import Storage
import Synchronization
import Testing

@testable import Vault

@Suite("Verifying a vault")
struct VerificationTests {
    let desk = try! Desk()  // Without a temporary directory there is nothing to test.

    /// A vault of several pages.
    private func filled(_ count: Int = 200) async throws -> Vault {
        let vault = try await desk.open()
        try await vault.commit((0..<count).map { .put(PageTests.name($0), .token, SecretBytes(utf8: "\($0)")) })
        try await vault.put(token, "token")
        return vault
    }

    @Test("a whole vault has no faults, and the report says what was checked")
    func whole() async throws {
        let vault = try await filled()
        let found = try await vault.verify()
        #expect(found.areContentsChecked && found.faults.isEmpty && !found.isCutShort)
        #expect(found.records == 201 && found.slots == 1 && found.keys == 1)
        #expect(found.pages > 3)
        _ = try await vault.rekey()
        #expect(try await vault.verify().faults.isEmpty)
    }

    @Test("a vault of format 1, and one without records, have no faults")
    func others() async throws {
        try desk.take("0.1.0")
        #expect(try await desk.open(creating: false).verify().faults == [])
        let other = try Desk()
        let empty = try await other.open().verify()
        #expect(empty.faults == [] && empty.records == 0 && empty.pages == 0)
    }

    @Test(
        "each kind of damage is named by its identifier and its name",
        arguments: [
            (
                "UPDATE record SET sealed = zeroblob(40) WHERE name LIKE '%-10007'",
                ["record-damaged: record-10007 of scope"]
            ),
            (
                "UPDATE record SET sealed = (SELECT sealed FROM kept WHERE name = 'record-10190') "
                    + "WHERE name LIKE '%-10007'",
                ["record-displaced: record-10007 of scope"]
            ),
            (
                "UPDATE record SET kind = 'state' WHERE name = 'token'",
                ["record-displaced: token of gateway.example:8443/"]
            ),
            (
                "UPDATE record SET version = 99 WHERE name = 'token'",
                ["record-rolled-back: token of gateway.example:8443/"]
            ),
            ("DELETE FROM record WHERE name = 'token'", ["record-missing: token of gateway.example:8443/"]),
            (
                "INSERT INTO record SELECT 'other', name, kind, version, sealed FROM kept WHERE name = 'token'",
                ["record-unlisted: token of other"]
            ),
            (
                "INSERT INTO record SELECT scope, char(27) || '[2Jevil', kind, version, sealed FROM kept LIMIT 1",
                ["record-unlisted: [2Jevil of scope"]
            ),
            ("UPDATE page SET sealed = zeroblob(100) WHERE id = 1", ["page-damaged: 1"]),
            ("INSERT INTO page SELECT 99, sealed FROM page WHERE id = 1", ["page-unlisted: 99"]),
            ("UPDATE slot SET wrapped = zeroblob(60)", ["slot-damaged: 1"]),
            ("INSERT INTO key SELECT 7, level, wrapped FROM key", ["key-damaged: 7"]),
            ("UPDATE vault SET root = zeroblob(100)", ["list-damaged: list"]),
            ("UPDATE vault SET root = zeroblob(100), generation = 99", ["list-damaged: list"]),
        ])
    func damage(change: String, faults: [String]) async throws {
        let vault = try await filled()
        try desk.tamper("CREATE TABLE kept AS SELECT * FROM record")
        try desk.tamper(change)
        let found = try await vault.verify()
        #expect(found.faults.map(\.description) == faults)
        #expect(found.faults.map { "\($0.identifier): \($0.name)" } == faults)
    }

    @Test("a data key that is missing is named, beside the records that it sealed")
    func missingKey() async throws {
        let vault = try await filled(3)
        try desk.tamper("DELETE FROM key")
        let found = try await vault.verify()
        let names = [token] + (0..<3).map { PageTests.name($0) }
        #expect(found.faults == [.keyMissing(id: 1)] + names.map { .recordDamaged($0) })
    }

    @Test("a data key that no record needs is named, until the rekeying that has left it is ended")
    func unusedKey() async throws {
        let vault = try await filled(3)
        // As if the power had gone off before the last step.
        try await vault.addUnusedKey()
        #expect(try await vault.verify().faults == [.keyUnused(id: 2)])
        #expect(try await vault.faults() == [])
        _ = try await vault.continueRekeying()
        #expect(try await vault.verify().faults == [])
    }

    @Test("several faults are found in one check, sorted, each once")
    func several() async throws {
        let vault = try await filled()
        try desk.tamper("UPDATE record SET sealed = zeroblob(40) WHERE name IN ('record-10190', 'token')")
        try desk.tamper("DELETE FROM record WHERE name = 'record-10189'")
        try desk.tamper("UPDATE page SET sealed = zeroblob(100) WHERE id = 1")
        try desk.tamper("UPDATE slot SET digest = zeroblob(32)")
        #expect(
            try await vault.verify().faults == [
                .slotDamaged(id: 1), .pageDamaged(id: 1), .recordDamaged(token), .recordMissing(PageTests.name(189)),
                .recordDamaged(PageTests.name(190)),
            ])
    }

    @Test("rows without end are not listed without end")
    func cutShort() async throws {
        let vault = try await filled(3)
        try desk.tamper(
            """
            WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 9000)
            INSERT INTO record SELECT 'many', 'row-' || n, 'token', 1, zeroblob(40) FROM number
            """)
        let found = try await vault.verify()
        #expect(found.faults.count == Verification.faultLimit && found.isCutShort)
    }

    @Test("a row with a name that Unicode takes for a listed one is not listed")
    func equivalentName() async throws {
        let vault = try await filled(3)
        try await vault.put(RecordName(scope: "scope", name: "K"), "a letter")
        // U+212A, KELVIN SIGN.
        try desk.tamper(
            "INSERT INTO record SELECT scope, char(8490), kind, version, sealed FROM record WHERE name = 'K'")
        #expect(try await vault.verify().faults.map(\.identifier) == ["record-unlisted"])
    }

    @Test("rows with the largest and the smallest numbers are found")
    func rowNumbers() async throws {
        let vault = try await filled(3)
        for id in [Int64.min, .max] {
            try desk.tamper(
                "INSERT INTO record (rowid, scope, name, kind, version, sealed) "
                    + "VALUES (?1, 'x', ?2, 'token', 1, x'00')",
                .integer(id), .text("row\(id)"))
        }
        #expect(try await vault.verify().faults.map(\.identifier) == ["record-unlisted", "record-unlisted"])
    }

    @Test("commits and a rekeying come through while a vault is verified, and are not taken for faults")
    func besides() async throws {
        let vault = try await filled(1000)
        let isOver = Mutex(false)
        async let commits = {
            var count = 0
            while !isOver.withLock({ $0 }) {
                count += 1
                let name = PageTests.name(count * 37 % 1100)
                try await vault.commit([
                    count % 3 == 0 ? .remove(name) : .put(name, .token, SecretBytes(utf8: "\(count)"))
                ])
            }
            return count
        }()
        async let rekeyed = vault.rekey()
        for _ in 0..<3 { #expect(try await vault.verify().faults.filter { $0 != .keyUnused(id: 1) } == []) }
        isOver.withLock { $0 = true }
        // One of each turn, of which a check has more than thirty.
        #expect(try await commits > 60)
        _ = try await rekeyed
        #expect(try await vault.verify().faults == [])
    }

    @Test("a check that is canceled ends between two turns")
    func canceled() async throws {
        let vault = try await filled()
        let task = Task { () async throws -> Verification in
            withUnsafeCurrentTask { $0?.cancel() }
            return try await vault.verify()
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    // MARK: Without a key

    private func examined() throws -> Verification {
        let folder = desk.directory + "/copy"
        if FileManager.default.fileExists(atPath: folder) { try FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        return try Vault.verification(of: desk.path, copiedInto: folder)
    }

    @Test("a copy is checked without a key in its structure, and the report says that contents were not")
    func copy() async throws {
        await (try filled()).close()
        let before = try desk.bytes()
        let found = try examined()
        #expect(!found.areContentsChecked && found.faults.isEmpty)
        #expect(found.records == 201 && found.slots == 1 && found.keys == 1 && found.pages > 3)
        #expect(try desk.bytes() == before)
    }

    @Test(
        "a copy without a key shows what has not the shape that it should have",
        arguments: [
            ("UPDATE slot SET wrapped = zeroblob(60)", ["slot-damaged: 1"]),
            (
                "UPDATE record SET sealed = x'00' WHERE name = 'token'",
                ["record-damaged: token of gateway.example:8443/"]
            ),
            ("UPDATE record SET version = 0 WHERE name = 'token'", ["record-damaged: token of gateway.example:8443/"]),
            ("UPDATE record SET name = char(10) WHERE name = 'token'", ["record-damaged: of gateway.example:8443/"]),
            ("UPDATE page SET sealed = x'' WHERE id = 2", ["page-damaged: 2"]),
            ("UPDATE key SET wrapped = x'00'", ["key-damaged: 1"]),
            ("UPDATE key SET level = 'never'", ["key-damaged: 1"]),
            ("UPDATE vault SET root = x''", ["list-damaged: list"]),
        ])
    func shape(change: String, faults: [String]) async throws {
        await (try filled()).close()
        try desk.tamper(change)
        #expect(try examined().faults.map(\.description) == faults)
    }

    @Test("a copy that is cut off, or is not a vault, is refused as a whole")
    func notAVault() async throws {
        await (try filled()).close()
        let whole = try desk.bytes()
        for bytes in [whole.prefix(whole.count / 2), Data("nothing of that kind".utf8), Data()] {
            try desk.write(bytes, to: desk.path)
            let error = #expect(throws: VaultError.self) { try examined() }
            #expect(error?.code == "vault.file-damaged")
        }
    }
}

extension Vault {
    fileprivate func addUnusedKey() throws {
        let unsealed = try access()
        try unsealed.file.database.transaction { _ = try unsealed.file.addKey(.always, unsealed.seal) }
    }
}
