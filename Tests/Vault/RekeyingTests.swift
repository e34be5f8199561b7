import Cryptography
import Foundation
import Groundwork
import Storage
import Synchronization
import Testing

@testable import Vault

@Suite("Rekeying a vault")
struct RekeyingTests {
    let desk = try! Desk()  // Without a temporary directory there is nothing to test.

    /// How many records each key seals.
    private func keys(of vault: Vault) async throws -> [Int64: Int] {
        let file = try VaultFile(at: desk.path)
        defer { file.database.close() }
        let seal = Seal(vaultID: try file.vaultID(), rootKey: try await vault.rootKey())
        let entries = try file.root(seal).pages.flatMap { try file.page($0, seal).entries.values }
        return entries.reduce(into: [:]) { $0[$1.key, default: 0] += 1 }
    }

    private func wrappedKeys() throws -> [Int64] {
        let database = try Database(path: desk.path, migrations: VaultFile.migrations)
        defer { database.close() }
        return try database.rows("SELECT id FROM key ORDER BY id", read: { $0.int64(0) })
    }

    @Test("rekeying seals every record with a new key, and leaves no former key in the file or its log")
    func rekeys() async throws {
        let vault = try await desk.open()
        try await vault.commit((0..<150).map { .put(PageTests.name($0), .token, SecretBytes(utf8: "\($0)")) })
        try await vault.commit([.put(deviceKey, .state, SecretBytes([UInt8](repeating: 7, count: 1 << 20)))])
        let made = try await vault.keys(of: token.scope).make(.p256, label: "device")
        let former = try desk.column("SELECT wrapped FROM key")
        let steps = Mutex([Int]())
        let done = try await vault.rekey { moved, _ in steps.withLock { $0.append(moved) } }
        #expect(done == Vault.Rekeying(moved: 152))
        #expect(steps.withLock { $0.last == 152 && $0.count >= 3 })
        #expect(try await keys(of: vault) == [2: 152])
        #expect(try wrappedKeys() == [2])
        #expect(try await !vault.isRekeying())
        for suffix in ["", "-wal"] { #expect(try desk.bytes(suffix).range(of: Data(former)) == nil) }
        #expect(try await vault.text(PageTests.name(149)) == "149")
        #expect(try await vault.keys(of: token.scope).key(made.reference) != nil)
        #expect(try await vault.faults() == [])
    }

    @Test("a vault of format 1 is moved off its root key")
    func formerFormat() async throws {
        try desk.take("0.1.0")
        let vault = try await desk.open(creating: false)
        let before = try await keys(of: vault)
        #expect(before.keys.sorted() == [0])
        #expect(try await vault.rekey().moved == before[0])
        #expect(try await keys(of: vault).keys.sorted() == [2])
        #expect(try await vault.text(token) == "second")
    }

    @Test("a rekeying that is cut off leaves a whole vault, and goes on after a restart")
    func goesOn() async throws {
        let vault = try await desk.open()
        try await vault.commit((0..<300).map { .put(PageTests.name($0), .token, SecretBytes(utf8: "\($0)")) })
        let task = Task { try await vault.rekey { _, _ in withUnsafeCurrentTask { $0?.cancel() } } }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await keys(of: vault) == [1: 236, 2: 64])
        #expect(try await vault.faults() == [])
        try await vault.put(PageTests.name(299), "new")
        await vault.close()

        let again = try await desk.open(creating: false)
        #expect(try await again.isRekeying())
        #expect(try await again.continueRekeying().moved == 235)
        #expect(try await keys(of: again) == [2: 300])
        #expect(try await again.text(PageTests.name(299)) == "new")
        #expect(try await !again.isRekeying())
    }

    @Test("a record that is damaged stays as it is, is named, and holds up no other")
    func damaged() async throws {
        let vault = try await desk.open()
        try await vault.commit((0..<100).map { .put(PageTests.name($0), .token, SecretBytes(utf8: "\($0)")) })
        try desk.tamper("UPDATE record SET sealed = zeroblob(40) WHERE name LIKE '%-10007'")
        let done = try await vault.rekey()
        #expect(done == Vault.Rekeying(moved: 99, damaged: [PageTests.name(7)]))
        #expect(try await vault.faults() == [.recordDamaged(name: PageTests.name(7))])
        #expect(try wrappedKeys() == [2])
    }

    @Test("records that cannot be read for now are not taken for damaged, and no key of theirs is removed")
    func unreadable() async throws {
        let vault = try await desk.open()
        try await vault.commit((0..<100).map { .put(PageTests.name($0), .token, SecretBytes(utf8: "\($0)")) })
        try desk.tamper("ALTER TABLE record RENAME TO elsewhere")
        await #expect(throws: VaultError.self) { try await vault.rekey() }
        try desk.tamper("ALTER TABLE elsewhere RENAME TO record")
        #expect(try wrappedKeys() == [1, 2])
        #expect(try await vault.faults() == [])
        #expect(try await vault.continueRekeying() == Vault.Rekeying(moved: 100))
        #expect(try wrappedKeys() == [2])
    }

    @Test("commits and reads come through while a vault is rekeyed, and none is lost")
    func besides() async throws {
        let vault = try await desk.open()
        try await vault.commit((0..<500).map { .put(PageTests.name($0), .token, SecretBytes(utf8: "\($0)")) })
        async let rekeyed = vault.rekey()
        for number in stride(from: 0, to: 500, by: 25) {
            try await vault.put(PageTests.name(number), "new")
            #expect(try await vault.text(PageTests.name(499)) == "499")
        }
        _ = try await rekeyed
        for number in 0..<500 {
            #expect(try await vault.text(PageTests.name(number)) == (number % 25 == 0 ? "new" : "\(number)"))
        }
        #expect(try await vault.faults() == [])
    }
}
