import Cryptography
import Foundation
import Storage
import Testing

@testable import Vault

@Suite("Slots of the vault")
struct SlotTests {
    let desk = try! Desk()  // Without a temporary directory there is nothing to test.
    let passphrase = Passphrase(SecretBytes(utf8: "correct horse battery"), cost: lightCost)
    var credential: SystemdCredential {
        SystemdCredential(name: "vault-key", directory: desk.directory + "/credentials")
    }

    func giveCredential(_ bytes: [UInt8] = [UInt8](repeating: 9, count: 32)) throws {
        try? FileManager.default.createDirectory(
            atPath: desk.directory + "/credentials", withIntermediateDirectories: true)
        // The mode that systemd's access lists show for a service with a user of its own.
        try desk.write(Data(bytes), to: desk.directory + "/credentials/vault-key", mode: 0o440)
    }

    @Test("vault slots open by credential, by passphrase and by development key, whichever is offered")
    func each() async throws {
        try giveCredential()
        let vault = try await desk.open(with: credential, passphrase, desk.key, creating: true)
        try await vault.put(token, "a")
        #expect(try await vault.slots().map(\.kind) == [.systemdCredential, .passphrase, .developmentFile])
        await vault.close()
        for key in [credential, passphrase, desk.key] as [any SlotKey] {
            let vault = try await desk.open(with: key)
            #expect(try await vault.text(token) == "a")
            #expect(try await vault.openedBy().kind == key.kind)
            #expect(try await vault.openedBy().kind.isDevelopment == (key.kind == .developmentFile))
            await vault.close()
        }
    }

    @Test("vault slots open with the second key where the first cannot be read")
    func fallback() async throws {
        await (try desk.open(with: passphrase, creating: true)).close()
        let vault = try await desk.open(with: credential, passphrase)
        #expect(try await vault.openedBy().kind == .passphrase)
    }

    @Test("vault slots are added and removed, and a removed one opens no more")
    func addAndRemove() async throws {
        let vault = try await desk.open()
        let first = try await vault.openedBy().id
        let second = try await vault.add(passphrase)
        #expect(second.kind == .passphrase)
        try await vault.remove(slot: first)
        #expect(try await vault.slots().map(\.id) == [second.id])
        await #expect(throws: VaultError.slotUnknown(path: desk.path, id: first)) {
            try await vault.remove(slot: first)
        }
        await vault.close()
        await #expect(throws: VaultError.noSlotOpens(path: desk.path, tried: [.developmentFile])) {
            try await desk.open(with: desk.key)
        }
        await (try desk.open(with: passphrase)).close()
    }

    @Test("vault slots keep the last one, even when the others are damaged")
    func last() async throws {
        let vault = try await desk.open()
        let first = try await vault.openedBy().id
        await #expect(throws: VaultError.lastSlot(path: desk.path, id: first)) { try await vault.remove(slot: first) }
        let second = try await vault.add(passphrase)
        try desk.tamper("UPDATE slot SET wrapped = zeroblob(60) WHERE id = ?1", .integer(second.id))
        #expect(try await vault.slots().map(\.isDamaged) == [false, true])
        await #expect(throws: VaultError.lastSlot(path: desk.path, id: first)) { try await vault.remove(slot: first) }
        try await vault.remove(slot: second.id)
    }

    @Test("vault slots keep one that protects something, unless its removal is forced")
    func development() async throws {
        let vault = try await desk.open()
        let first = try await vault.openedBy().id
        let second = try await vault.add(passphrase)
        await #expect(throws: VaultError.onlyDevelopmentSlots(path: desk.path, id: second.id)) {
            try await vault.remove(slot: second.id)
        }
        let third = try await vault.add(passphrase)
        try await vault.remove(slot: second.id)
        try await vault.remove(slot: third.id, force: true)
        #expect(try await vault.slots().map(\.id) == [first])
    }

    @Test("a slot is tried with a key, and the vault stays as it is")
    func trial() async throws {
        let vault = try await desk.open()
        let first = try await vault.openedBy().id
        let second = try await vault.add(passphrase)
        #expect(try await vault.test(slot: second.id, with: passphrase) == second)
        let wrong = Passphrase(SecretBytes(utf8: "battery staple correct"), cost: lightCost)
        await #expect(throws: VaultError.noSlotOpens(path: desk.path, tried: [.passphrase])) {
            try await vault.test(slot: second.id, with: wrong)
        }
        await #expect(throws: VaultError.noSlotOpens(path: desk.path, tried: [.passphrase])) {
            try await vault.test(slot: first, with: passphrase)
        }
        await #expect(throws: VaultError.slotUnknown(path: desk.path, id: 99)) {
            try await vault.test(slot: 99, with: passphrase)
        }
        #expect(try await vault.openedBy().id == first)
        try desk.tamper("UPDATE slot SET wrapped = zeroblob(60) WHERE id = ?1", .integer(second.id))
        await #expect(throws: VaultError.slotDamaged(path: desk.path, id: second.id, kind: .passphrase)) {
            try await vault.test(slot: second.id, with: passphrase)
        }
    }

    @Test("vault slots are wrapped anew under another passphrase, and the old one opens no more")
    func rewrap() async throws {
        let vault = try await desk.open(with: passphrase, creating: true)
        try await vault.put(token, "a")
        let new = Passphrase(SecretBytes(utf8: "battery staple correct"), cost: lightCost)
        let slot = try await vault.rewrap(slot: 1, with: new)
        #expect(try await vault.slots() == [slot])
        await #expect(throws: VaultError.slotUnknown(path: desk.path, id: 7)) {
            try await vault.rewrap(slot: 7, with: new)
        }
        await vault.close()
        await #expect(throws: VaultError.noSlotOpens(path: desk.path, tried: [.passphrase])) {
            try await desk.open(with: passphrase)
        }
        #expect(try await desk.open(with: new).text(token) == "a")
    }

    @Test("vault slots are at most sixteen")
    func number() async throws {
        let vault = try await desk.open()
        for _ in 1..<16 { try await vault.add(desk.key) }
        await #expect(throws: VaultError.tooManySlots(path: desk.path, limit: 16)) { try await vault.add(desk.key) }
    }

    @Test(
        "vault slots tell a wrong key from a byte that flipped", arguments: ["kind", "parameters", "wrapped", "digest"])
    func flipped(column: String) async throws {
        await (try desk.open(with: passphrase, creating: true)).close()
        let wrong = Passphrase(SecretBytes(utf8: "wrong"), cost: lightCost)
        await #expect(throws: VaultError.noSlotOpens(path: desk.path, tried: [.passphrase])) {
            try await desk.open(with: wrong)
        }
        if column == "kind" {
            try desk.tamper("UPDATE slot SET kind = 'development-file'")
            await #expect(throws: VaultError.slotDamaged(path: desk.path, id: 1, kind: .developmentFile)) {
                try await desk.open(with: desk.key)
            }
        } else {
            try desk.flip(column, of: "slot")
            await #expect(throws: VaultError.slotDamaged(path: desk.path, id: 1, kind: .passphrase)) {
                try await desk.open(with: passphrase)
            }
        }
    }

    @Test("a damaged vault slot does not keep another from opening")
    func damagedBesideSound() async throws {
        await (try desk.open(with: passphrase, desk.key, creating: true)).close()
        try desk.tamper("UPDATE slot SET wrapped = zeroblob(60) WHERE kind = 'passphrase'")
        let vault = try await desk.open(with: passphrase, desk.key)
        #expect(try await vault.openedBy().kind == .developmentFile)
        #expect(try await vault.slots().map(\.isDamaged) == [true, false])
    }
}
