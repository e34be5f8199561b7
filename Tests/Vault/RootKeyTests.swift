import Cryptography
import Foundation
import Groundwork
import Storage
import Testing

@testable import Vault

@Suite("Replacing the root key of a vault")
struct RootKeyTests {
    let desk = try! Desk()  // Without a temporary directory there is nothing to test.
    private let passphrase = Passphrase(SecretBytes(utf8: "a passphrase of many bytes"), cost: lightCost)

    @Test("a new root key leaves one slot, and the former root key opens nothing of the file")
    func replaced() async throws {
        let vault = try await desk.open()
        try await vault.commit((0..<150).map { .put(PageTests.name($0), .token, SecretBytes(utf8: "\($0)")) })
        let made = try await vault.keys(of: token.scope).make(.p256, label: "device")
        try await vault.add(passphrase)
        let file = try VaultFile(at: desk.path)
        let former = Seal(vaultID: try file.vaultID(), rootKey: SecretBytes(try await vault.rootKey().exposed()))
        await #expect(throws: VaultError.slotsLeft(path: desk.path, ids: [2])) {
            try await vault.replaceRootKey(for: desk.key, dropping: [])
        }
        #expect(try await vault.slots().map(\.id) == [1, 2])

        #expect(try await vault.replaceRootKey(for: desk.key, dropping: [2]).moved == 151)
        #expect(try await vault.slots().map(\.id) == [1])
        #expect(try await vault.openedBy().id == 1)
        #expect(try await vault.rootKey() != former.rootKey)
        #expect(try await vault.text(PageTests.name(149)) == "149")
        try await vault.put(token, "later")
        await vault.close()

        #expect(throws: VaultError.manifestDamaged(path: desk.path)) { try file.root(former) }
        #expect(try (1...9).allSatisfy { try file.dataKey($0, former) == nil })
        file.database.close()
        await #expect(throws: VaultError.noSlotOpens(path: desk.path, tried: [.passphrase])) {
            try await desk.open(with: passphrase)
        }
        let again = try await desk.open(with: desk.key)
        #expect(try await again.text(token) == "later")
        #expect(try await again.keys(of: token.scope).key(made.reference) != nil)
        #expect(try await again.faults() == [])
        #expect(try await !again.isRekeying())
    }

    @Test("a vault of format 1 gets a new root key, which sealed its records itself")
    func formerFormat() async throws {
        try desk.take("0.1.0")
        let vault = try await desk.open(creating: false)
        let other = try await vault.slots().map(\.id).filter { $0 != 1 }
        _ = try await vault.replaceRootKey(for: desk.key, dropping: Set(other))
        await vault.close()
        let again = try await desk.open(creating: false)
        #expect(try await again.text(token) == "second")
        #expect(try await again.faults() == [])
    }

    @Test("a damaged record of format 1 does not hold up a new root key")
    func damagedOfFormerFormat() async throws {
        try desk.take("0.1.0")
        try desk.tamper("UPDATE record SET sealed = zeroblob(40) WHERE name = 'token'")
        let vault = try await desk.open(creating: false)
        _ = try await vault.replaceRootKey(for: desk.key, dropping: [2])
        #expect(try await vault.faults() == [.recordDamaged(name: token)])
        #expect(try await !vault.isRekeying())
    }

    @Test("a key that cannot be had leaves the vault as it was")
    func withoutKey() async throws {
        let vault = try await desk.open()
        try await vault.put(token, "a")
        let before = try await vault.rootKey()
        await #expect(throws: VaultError.passphraseEmpty) {
            try await vault.replaceRootKey(for: Passphrase(SecretBytes([])), dropping: [])
        }
        #expect(try await vault.rootKey() == before)
        #expect(try await vault.text(token) == "a")
    }
}
