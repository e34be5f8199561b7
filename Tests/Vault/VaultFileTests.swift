import Cryptography
import Foundation
import Groundwork
import Storage
import Testing

@testable import Vault

@Suite("The vault's file")
struct VaultFileTests {
    let desk = try! Desk()  // Without a temporary directory there is nothing to test.

    @Test("a vault file is readable by its owner only, and so is the key beside it")
    func modes() async throws {
        let vault = try await desk.open()
        try await vault.put(token, "a")
        for suffix in ["", "-wal", "-shm"] { #expect(try desk.mode(desk.path + suffix) == 0o600) }
        #expect(try desk.mode(desk.keyPath) == 0o600)
    }

    @Test("a vault file that is missing is said to be missing, and not made, unless asked for")
    func missing() async throws {
        await #expect(throws: VaultError.missing(path: desk.path)) { try await desk.open(creating: false) }
        #expect(try desk.files() == [])
    }

    @Test("a vault file is not made without a key")
    func noKey() async throws {
        await #expect(throws: VaultError.noSlotOpens(path: desk.path, tried: [])) {
            try await Vault.open(at: desk.path, with: [], creating: true)
        }
        #expect(try desk.files() == [])
    }

    @Test("a vault file is never made anew over one that does not open")
    func kept() async throws {
        try await desk.fill((token, "a"))
        let before = try desk.bytes()
        let wrong = Passphrase(SecretBytes(utf8: "wrong"), cost: lightCost)
        await #expect(throws: VaultError.noSlotOpens(path: desk.path, tried: [.passphrase])) {
            try await desk.open(with: wrong, creating: true)
        }
        #expect(try desk.bytes() == before)
    }

    @Test(
        "a vault file that is cut off is damaged, is left as it is, and can be set aside",
        arguments: [0, 1, 50, 4096, 12000])
    func truncated(count: Int) async throws {
        try await desk.fill((token, String(repeating: "x", count: 20000)))
        let cut = try desk.bytes().prefix(count)
        try desk.write(cut, to: desk.path)
        let error = try await #require(throws: VaultError.self) { try await desk.open() }
        #expect(error.code == "vault.file-damaged")
        #expect(error.message.contains(desk.path))
        #expect(try desk.bytes() == cut)
        let setAside = try Vault.setAside(at: desk.path, after: error, with: [desk.key])
        #expect(try Data(contentsOf: URL(fileURLWithPath: setAside)) == cut)
        #expect(try await desk.open().scopes() == [])
    }

    @Test("a vault file that is no database at all is damaged")
    func garbage() async throws {
        try desk.write(Data(repeating: 0x41, count: 9000), to: desk.path)
        await #expect(throws: VaultError.fileDamaged(path: desk.path, detail: "it is not a vault")) {
            try await desk.open()
        }
    }

    @Test("a vault file that is some other database is not turned into a vault")
    func otherDatabase() async throws {
        let other = try Database(path: desk.path, migrations: [])
        try other.execute("CREATE TABLE something (a)")
        other.close()
        await #expect(throws: VaultError.fileDamaged(path: desk.path, detail: "it is not a vault")) {
            try await desk.open()
        }
        let again = try Database(path: desk.path, migrations: [])
        #expect(try again.rows("SELECT name FROM sqlite_schema", read: { $0.text(0) }) == ["something"])
    }

    @Test("a vault file of a newer program is refused and left as it is")
    func newer() async throws {
        try await desk.fill((token, "a"))
        try desk.tamper("PRAGMA user_version = 9")
        let before = try desk.bytes()
        await #expect(throws: VaultError.newerVersion(path: desk.path, found: 9, supported: 3)) {
            try await desk.open()
        }
        #expect(try desk.bytes() == before)
    }

    @Test("a vault file that others may read is refused")
    func tooOpen() async throws {
        try await desk.fill((token, "a"))
        try desk.write(try desk.bytes(), to: desk.path, mode: 0o644)
        await #expect(throws: VaultError.permissionsTooOpen(path: desk.path, mode: 0o644)) { try await desk.open() }
    }

    @Test("a vault file has the old state when power goes off within a commit")
    func powerCut() async throws {
        try await desk.fill((token, "old"))
        let file = try VaultFile(at: desk.path)
        let unlocked = try await desk.open(with: desk.key)
        let seal = Seal(vaultID: try file.vaultID(), rootKey: try await unlocked.rootKey())
        await unlocked.close()
        try file.database.execute("PRAGMA cache_size = 1")
        let cut = try Desk()
        try file.database.transaction {
            let entry = RecordEntry(kind: .token, version: 2, key: 1)
            for name in [token, deviceKey] {
                let content = SecretBytes([UInt8](repeating: 1, count: 100_000))
                try file.put(name, entry, content, seal, key: try SecretBytes.random(32))
            }
            for suffix in ["", "-wal"] { try cut.write(try desk.bytes(suffix), to: cut.path + suffix) }
        }
        let vault = try await cut.open(with: desk.key)
        #expect(try await vault.text(token) == "old")
        #expect(try await vault.faults() == [])
    }

    @Test("a vault file that is closed under the vault gives nothing more")
    func closed() async throws {
        let vault = try await desk.open()
        await vault.close()
        await #expect(throws: VaultError.closed(path: desk.path)) { try await vault.record(token) }
        await #expect(throws: VaultError.closed(path: desk.path)) { try await vault.put(token, "a") }
        #expect(try desk.files() == ["vault.db", "vault.key"])
    }

    @Test("a vault file of two processes shows each what the other has written")
    func twoVaults() async throws {
        let first = try await desk.open()
        let second = try await desk.open()
        try await first.put(token, "a")
        try await second.put(deviceKey, "b")
        #expect(try await first.text(deviceKey) == "b")
        #expect(try await second.text(token) == "a")
        #expect(try await first.faults() == [])
    }
}
