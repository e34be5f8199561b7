import Cryptography
import Foundation
import Storage
import Testing

@testable import Vault

@Suite("Tampering with the vault's file")
struct TamperingTests {
    let desk = try! Desk()  // Without a temporary directory there is nothing to test.

    /// Expects exactly this one fault, for the whole vault and for the record alone.
    func expect(_ fault: VaultError, reading name: RecordName = token) async throws {
        let vault = try await desk.open(creating: false)
        #expect(try await vault.faults() == [fault])
        await #expect(throws: fault) { try await vault.record(name) }
        await vault.close()
    }

    @Test(
        "a flipped byte of a record is noticed, anywhere in it, and the other records stay readable",
        arguments: [0, 15, -1])
    func flippedRecord(index: Int) async throws {
        try await desk.fill((token, "a secret token"))
        let count = try desk.column("SELECT sealed FROM record").count
        try desk.flip("sealed", of: "record", at: index < 0 ? count + index : index)
        let vault = try await desk.open()
        try await vault.put(deviceKey, "key")
        await #expect(throws: VaultError.recordDamaged(name: token)) { try await vault.record(token) }
        #expect(try await vault.text(deviceKey) == "key")
        await vault.close()
        try await expect(.recordDamaged(name: token))
    }

    @Test("a record that becomes shorter than any sealed one is noticed")
    func shortRecord() async throws {
        try await desk.fill((token, "a"))
        try desk.tamper("UPDATE record SET sealed = x'00'")
        try await expect(.recordDamaged(name: token))
    }

    @Test("two records that change places are noticed")
    func swapped() async throws {
        try await desk.fill((token, "token"), (deviceKey, "key"))
        try desk.tamper("CREATE TABLE kept AS SELECT * FROM record")
        try desk.tamper("UPDATE record SET sealed = (SELECT sealed FROM kept WHERE kept.name <> record.name)")
        let vault = try await desk.open(creating: false)
        #expect(try await vault.faults() == [.recordDisplaced(name: deviceKey), .recordDisplaced(name: token)])
        await #expect(throws: VaultError.recordDisplaced(name: token)) { try await vault.record(token) }
    }

    @Test("two records that change names are noticed")
    func renamed() async throws {
        try await desk.fill((token, "token"), (RecordName(scope: token.scope, name: "other"), "other"))
        try desk.tamper("UPDATE record SET name = name || '-'")
        try desk.tamper("UPDATE record SET name = CASE name WHEN 'token-' THEN 'other' ELSE 'token' END")
        let vault = try await desk.open(creating: false)
        await #expect(throws: VaultError.recordDisplaced(name: token)) { try await vault.record(token) }
    }

    @Test("a record that is given another kind is noticed")
    func otherKind() async throws {
        try await desk.fill((token, "token"))
        try desk.tamper("UPDATE record SET kind = 'configuration'")
        try await expect(.recordDisplaced(name: token))
    }

    @Test("a record that is put back to an earlier state is noticed")
    func rolledBack() async throws {
        try await desk.fill((token, "first"))
        try desk.tamper("CREATE TABLE kept AS SELECT * FROM record")
        try await desk.fill((token, "second"))
        try desk.tamper("REPLACE INTO record SELECT * FROM kept")
        try await expect(.recordRolledBack(name: token))
        // Nor does it help to call the old one new.
        try desk.tamper("UPDATE record SET version = 2")
        try await expect(.recordDamaged(name: token))
    }

    @Test("a removed record that is put back is noticed, even under the name of a new one")
    func resurrected() async throws {
        try await desk.fill((token, "first"))
        try desk.tamper("CREATE TABLE kept AS SELECT * FROM record")
        let vault = try await desk.open()
        try await vault.commit([.remove(token)])
        await vault.close()
        try desk.tamper("INSERT INTO record SELECT * FROM kept")
        try await expect(.recordRolledBack(name: token))
        try await desk.fill((token, "second"))
        try desk.tamper("REPLACE INTO record SELECT * FROM kept")
        try await expect(.recordRolledBack(name: token))
    }

    @Test("a record that is taken out is noticed")
    func takenOut() async throws {
        try await desk.fill((token, "token"))
        try desk.tamper("DELETE FROM record")
        try await expect(.recordMissing(name: token))
        // Writing it again is how it is put right.
        try await desk.fill((token, "new"))
        let vault = try await desk.open(creating: false)
        #expect(try await vault.faults() == [])
    }

    @Test("a list of records that is put back to an earlier state is noticed")
    func oldManifest() async throws {
        try await desk.fill((token, "first"))
        let list = try desk.list()
        try await desk.fill((token, "second"))
        try desk.put(back: list)
        try await expect(.recordRolledBack(name: token))
    }

    @Test("a flipped byte of the list of records is noticed", arguments: [("root", "vault"), ("sealed", "page")])
    func flippedManifest(column: String, table: String) async throws {
        try await desk.fill((token, "token"))
        try desk.flip(column, of: table)
        await #expect(throws: VaultError.manifestDamaged(path: desk.path)) { try await desk.open() }
    }

    @Test("a key of the records that is changed, taken out or put in another's place is noticed")
    func changedKey() async throws {
        for change in ["UPDATE key SET wrapped = zeroblob(60)", "DELETE FROM key", "UPDATE key SET id = 2"] {
            let desk = try Desk()
            try await desk.fill((token, "token"))
            try desk.tamper(change)
            await #expect(throws: VaultError.manifestDamaged(path: desk.path)) { try await desk.open() }
        }
    }

    @Test("a vault file that is put back under a running agent is noticed")
    func rolledBackWhileOpen() async throws {
        let vault = try await desk.open()
        try await vault.put(token, "first")
        let list = try desk.list()
        try desk.tamper("CREATE TABLE kept AS SELECT * FROM record")
        try await vault.put(token, "second")
        try desk.tamper("REPLACE INTO record SELECT * FROM kept")
        try desk.put(back: list)
        await #expect(throws: VaultError.manifestRolledBack(path: desk.path)) { try await vault.record(token) }
        await #expect(throws: VaultError.manifestRolledBack(path: desk.path)) { try await vault.put(token, "third") }
        // Nor does it help to call the old list the newest.
        try desk.tamper("UPDATE vault SET generation = 2")
        await #expect(throws: VaultError.manifestDamaged(path: desk.path)) { try await vault.record(token) }
    }

    @Test("a record of another vault is noticed, even with the same name, kind and version")
    func otherVault() async throws {
        let other = try Desk()
        try await desk.fill((token, "ours"))
        try await other.fill((token, "theirs"))
        try desk.tamper("UPDATE record SET sealed = ?1", .blob(other.column("SELECT sealed FROM record")))
        try await expect(.recordDamaged(name: token))
    }
}
