import Cryptography
import Foundation
import Groundwork
import Storage
import Testing

@testable import Vault

@Suite("Protection levels")
struct LevelTests {
    let bench = try! PasscodeBench()  // Without a temporary directory there is nothing to test.
    private var path: String { bench.desk.path }

    private func wraps() throws -> [[UInt8]] {
        let database = try Database(path: path, migrations: VaultFile.migrations)
        defer { database.close() }
        return try database.rows("SELECT wrapped FROM key WHERE level <> 'always'", read: { $0.blob(0) })
    }

    @Test("a lock closes the level unlocked, and a start the level first-unlock, too; names stay listable")
    func open() async throws {
        var (vault, compartment) = try await bench.filled()
        #expect(try await vault.readable() == [.always, .firstUnlock, .unlocked])
        try await compartment.lock()
        #expect(try await vault.readable() == [.always, .firstUnlock])
        #expect(try await vault.names(scope: "s").map(\.name) == ["always", "first-unlock", "unlocked"])
        await vault.close()

        (vault, compartment) = try await bench.open()
        #expect(try await vault.readable() == [.always])
        #expect(try await vault.names(scope: "s").count == 3)
        try await compartment.unlock(by: PasscodeBench.right)
        #expect(try await vault.readable() == [.always, .firstUnlock, .unlocked])
        await vault.lock()
        try await vault.unlock(with: [bench.desk.key])
        #expect(try await vault.readable() == [.always])
    }

    @Test("an unlocked vault that checks a key of a slot keeps its levels open")
    func stays() async throws {
        let (vault, _) = try await bench.filled()
        try await vault.unlock(with: [bench.desk.key])
        #expect(try await vault.readable() == [.always, .firstUnlock, .unlocked])
    }

    @Test("nothing is written to a level that is locked or that there is not, and nothing of the commit is")
    func written() async throws {
        let (vault, compartment) = try await bench.open()
        let changes: [Change] = [
            .put(token, .token, SecretBytes(utf8: "a")),
            .put(deviceKey, .token, SecretBytes(utf8: "b"), level: .unlocked),
        ]
        await #expect(throws: VaultError.passcode(.noPasscode)) { try await vault.commit(changes) }
        try await compartment.set(PasscodeBench.right)
        try await compartment.lock()
        await #expect(throws: VaultError.levelLocked(path: path, level: .unlocked)) { try await vault.commit(changes) }
        #expect(try await vault.text(token) == nil)
        try await compartment.unlock(by: PasscodeBench.right)
        try await vault.commit(changes)
        try await compartment.lock()
        #expect(try await vault.text(token) == "a")
        try await vault.commit([.remove(deviceKey)])
        #expect(try await vault.text(deviceKey) == nil)
    }

    @Test("nothing behind the passcode opens with the root key alone, nor with the passcode's key alone")
    func bothNeeded() async throws {
        let (vault, compartment) = try await bench.filled()
        try await compartment.lock()
        let file = try VaultFile(at: path)
        defer { file.database.close() }
        let seal = Seal(vaultID: try file.vaultID(), rootKey: try await vault.rootKey())
        let ids = try file.levelKeyIDs()
        #expect(ids.count == 2)
        for id in ids {
            #expect(throws: VaultError.self) { try file.dataKey(id, seal) }
            let row = try #require(try file.keyRow(id))
            #expect(try seal.unwrap(row.wrapped, id: id, row.level) == nil)
            let inner = try #require(try seal.unwrapOuter(row.wrapped, id: id, row.level))
            #expect(try seal.unwrap(inner, id: id, row.level, passcodeKey: seal.rootKey) == nil)
        }
        guard case .passcode(let key, _) = try await vault.compartment().lock else { throw PasscodeError.noPasscode }
        let derived = try await key.derive(
            from: try PasscodeBench.right.passcode(), chip: nil, vaultID: seal.vaultID)
        #expect(try file.levelKeys(seal, passcodeKey: derived)?.count == 2)
        let other = Seal(vaultID: seal.vaultID, rootKey: try SecretBytes.random(32))
        #expect(throws: PasscodeError.tampered) { try file.levelKeys(other, passcodeKey: derived) }
    }

    @Test("keys of a time before the passcode, put back into the file, open nothing (SMP 40)")
    func putBack() async throws {
        let (first, compartment) = try await bench.open()
        try await compartment.turnOff()
        try await first.commit([.put(token, .token, SecretBytes(utf8: "a"), level: .unlocked)])
        let former = try wraps()
        try await compartment.set(PasscodeBench.right)
        for wrapped in former {
            for suffix in ["", "-wal"] {
                #expect(try bench.desk.bytes(suffix).range(of: Data(wrapped)) == nil)
            }
        }
        await first.close()
        try bench.desk.tamper("UPDATE key SET wrapped = ?1 WHERE level = 'first-unlock'", .blob(former[0]))
        try bench.desk.tamper("UPDATE key SET wrapped = ?1 WHERE level = 'unlocked'", .blob(former[1]))
        let (vault, again) = try await bench.open()
        await #expect(throws: VaultError.levelLocked(path: path, level: .unlocked)) { try await vault.record(token) }
        await #expect(throws: VaultError.passcode(.tampered)) { try await again.unlock(by: PasscodeBench.right) }
        #expect(try await again.status().failures == 0)
    }

    @Test(
        "keys behind the passcode that were changed or removed are named, and no attempt is counted (SMP 40)",
        arguments: [
            "UPDATE key SET wrapped = zeroblob(88) WHERE level = 'unlocked'",
            "DELETE FROM key WHERE level = 'unlocked'",
            "UPDATE key SET level = 'first-unlock' WHERE level = 'unlocked'",
            "UPDATE key SET wrapped = x'' WHERE level <> 'always'",
        ])
    func tampered(sql: String) async throws {
        let (first, _) = try await bench.filled()
        await first.close()
        try bench.desk.tamper(sql)
        let (vault, compartment) = try await bench.open()
        await #expect(throws: VaultError.passcode(.tampered)) {
            try await compartment.unlock(by: PasscodeBench.right)
        }
        #expect(try await compartment.status().failures == 0)
        #expect(try await vault.text(PasscodeBench.record(.always)) == "always")
        await #expect(throws: VaultError.recordDamaged(name: PasscodeBench.record(.unlocked))) {
            try await vault.record(PasscodeBench.record(.unlocked))
        }
        #expect(try await !vault.verify().faults.isEmpty)
    }

    @Test("a key that is not behind the passcode is not taken for one that is")
    func moved() async throws {
        let (first, _) = try await bench.filled()
        await first.close()
        try bench.desk.tamper("UPDATE key SET level = 'unlocked' WHERE level = 'always'")
        await #expect(throws: VaultError.manifestDamaged(path: path)) { try await bench.open() }
    }

    @Test("only the compartment writes its state")
    func guarded() async throws {
        let (vault, _) = try await bench.filled()
        for change: Change in [
            .remove(Compartment.record), .put(Compartment.record, .state, SecretBytes([])),
            .put(token, .passcode, SecretBytes([])),
        ] {
            await #expect {
                try await vault.commit([change])
            } throws: {
                if case VaultError.nameNotAllowed = $0 { true } else { false }
            }
        }
    }

    @Test("a lock wipes the key of the level unlocked from memory, and a lock of the vault that of first-unlock, too")
    func wiped() async throws {
        let (vault, _) = try await bench.filled()
        #expect(try await vault.isWiped(.unlocked) { $0.lockLevels([.unlocked]) })
        #expect(try await vault.isWiped(.firstUnlock) { $0.lock() })
    }

    @Test("the state of the passcode is not among the names of records, which others may remove")
    func unlisted() async throws {
        let (vault, _) = try await bench.filled()
        try await vault.put(deviceKey, "a")
        #expect(try await vault.names(scope: "") == [deviceKey])
    }

    // MARK: Long work

    @Test("rekeying leaves records behind the passcode as they are, and says how many", arguments: [true, false])
    func rekeyed(isLocked: Bool) async throws {
        let (vault, compartment) = try await bench.filled()
        if isLocked { try await compartment.lock() }
        let former = try wraps()
        let done = try await vault.rekey()
        #expect(done == Vault.Rekeying(moved: 2, behindPasscode: 2))
        #expect(try wraps() == former)
        #expect(try await !vault.isRekeying())
        await vault.close()
        let (again, same) = try await bench.open()
        try await same.unlock(by: PasscodeBench.right)
        #expect(try await again.readable() == ProtectionLevel.allCases)
        #expect(try await again.verify().faults == [])
    }

    @Test("a new root key does not need the passcode, and the former one opens no key behind it")
    func rootKey() async throws {
        let (vault, compartment) = try await bench.filled()
        try await compartment.lock()
        let former = Seal(vaultID: try await vault.vaultID, rootKey: SecretBytes(try await vault.rootKey().exposed()))
        #expect(try await vault.replaceRootKey(for: bench.desk.key, dropping: []).behindPasscode == 2)
        #expect(try await vault.readable() == [.always, .firstUnlock])
        try await compartment.unlock(by: PasscodeBench.right)
        #expect(try await vault.readable() == ProtectionLevel.allCases)
        let file = try VaultFile(at: path)
        defer { file.database.close() }
        for id in try file.levelKeyIDs() {
            let row = try #require(try file.keyRow(id))
            #expect(try file.isGenuine(row, former) == false)
        }
        await vault.close()
        let (again, same) = try await bench.open()
        #expect(try await again.readable() == [.always])
        try await same.unlock(by: PasscodeBench.right)
        #expect(try await again.readable() == ProtectionLevel.allCases)
    }

    @Test("the check of a vault counts what is locked, and finds no fault in it")
    func verified() async throws {
        let (first, _) = try await bench.filled()
        #expect(try await first.verify().locked == 0)
        await first.close()
        let (vault, _) = try await bench.open()
        let found = try await vault.verify()
        #expect(found.faults == [])
        #expect(found.locked == 2)
        #expect(found.records == 4)
        try bench.desk.tamper("DELETE FROM record WHERE name = 'unlocked'")
        #expect(try await vault.faults() == [.recordMissing(name: PasscodeBench.record(.unlocked))])
        await vault.close()
        let folder = bench.desk.directory + "/copy"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        #expect(try Vault.verification(of: path, copiedInto: folder).faults == [])
    }

    // MARK: Copies

    @Test("an export has nothing from behind the passcode, open or not, and names it", arguments: [true, false])
    func exported(isLocked: Bool) async throws {
        let (vault, compartment) = try await bench.filled()
        if isLocked { try await compartment.lock() }
        let file = bench.desk.directory + "/export"
        let phrase = SecretBytes(utf8: "a passphrase of many bytes")
        let exported = try await vault.export(
            to: file, passphrase: phrase, cost: lightCost, withIdentity: true, identity: { _, _, _ in false })
        #expect(exported.records == 1)
        #expect(
            Set(exported.behindPasscode)
                == [Compartment.record, PasscodeBench.record(.firstUnlock), PasscodeBench.record(.unlocked)])
        let other = try Desk()
        let restored = try await other.open()
        // The state of a passcode is no use of the vault.
        try await bench.compartment(of: restored).set(PasscodeBench.wrong)
        #expect(try await restored.restore(from: file, passphrase: phrase, keeping: { _ in false }).records == 1)
        #expect(try await restored.text(PasscodeBench.record(.always)) == "always")
    }
}

extension Vault {
    /// Whether nobody refers to the key of a level after a lock: it is wiped with the last reference.
    fileprivate func isWiped(_ level: ProtectionLevel, by lock: @Sendable (isolated Vault) -> Void) throws -> Bool {
        weak let key = try openLevels()[level]?.key
        guard key != nil else { return false }
        lock(self)
        return key == nil
    }
}
