import Cryptography
import Foundation
import Messaging
import TestSupport
import Testing

@testable import Vault

@Suite("A slow key of the vault", .timeLimit(.minutes(5)))
struct SlowKeyTests {
    let desk = try! Desk()  // Without a temporary directory there is nothing to test.
    private let passphrase = Passphrase(SecretBytes(utf8: "correct horse battery"), cost: lightCost)

    @Test("an outbox accepts messages, and a vault commits, while a slow key is derived")
    func others() async throws {
        let outbox = try await Outbox.open(at: desk.directory + "/outbox.db")
        let vault = try await desk.open()
        let key = HeldKey()
        let added = Task { try await vault.add(key) }
        await key.isHeld.pass()
        for number in 1...3 {
            let message = OutgoingMessage(topic: try Topic("t"), payload: [1])
            #expect(try await outbox.accept(message) == Int64(number))
            try await vault.put(token, "\(number)")
        }
        #expect(try await vault.text(token) == "3")
        #expect(try await vault.slots().count == 1)
        key.letGo()
        #expect(try await added.value.kind == key.kind)
        #expect(try await vault.slots().count == 2)
        await outbox.close()
    }

    @Test("a vault that is locked or closed while it waits for a slow key refuses the slot", arguments: [false, true])
    func ended(isClosed: Bool) async throws {
        let vault = try await desk.open()
        let before = try await vault.slots()
        for change in [
            { try await vault.add($0) }, { try await vault.rewrap(slot: 1, with: $0) },
        ] as [@Sendable (HeldKey) async throws -> Slot] {
            let key = HeldKey()
            let changed = Task { try await change(key) }
            await key.isHeld.pass()
            await vault.lock()
            if isClosed { await vault.close() }
            key.letGo()
            let refusal = isClosed ? VaultError.closed(path: desk.path) : .locked(path: desk.path)
            await #expect(throws: refusal) { try await changed.value }
            guard !isClosed else { break }
            #expect(try await vault.slots() == before)
            try await vault.unlock(with: [desk.key])
        }
        await vault.close()
        #expect(try await desk.open(with: desk.key).slots() == before)
    }

    @Test("locking a vault while a slow key is to unlock it leaves it locked, and closing it leaves it closed")
    func unlocking() async throws {
        let key = HeldKey(free: 2)
        let vault = try await desk.open(with: key, creating: true)
        await vault.lock()
        let unlocked = Task { try await vault.unlock(with: [key]) }
        await key.isHeld.pass()
        await vault.lock()
        key.letGo()
        await #expect(throws: VaultError.locked(path: desk.path)) { try await unlocked.value }
        #expect(await vault.state == .locked)
        await vault.close()

        let slow = HeldKey()
        let second = Vault(path: desk.path)
        let opened = Task { try await second.unseal(with: [slow], creating: true) }
        await slow.isHeld.pass()
        #expect(await second.state == .closed)
        await second.close()
        slow.letGo()
        await #expect(throws: VaultError.closed(path: desk.path)) { try await opened.value }
        #expect(await second.state == .closed)
    }

    @Test("a slot that is removed while a slow key is to replace it stays removed")
    func removed() async throws {
        let vault = try await desk.open()
        let second = try await vault.add(passphrase)
        let key = HeldKey()
        let replaced = Task { try await vault.rewrap(slot: second.id, with: key) }
        await key.isHeld.pass()
        defer { key.letGo() }
        try await vault.remove(slot: second.id, force: true)
        key.letGo()
        await #expect(throws: VaultError.slotUnknown(path: desk.path, id: second.id)) { try await replaced.value }
        #expect(try await vault.slots().map(\.id) == [1])
    }

    @Test("a slow key of a slot that is removed meanwhile no longer unlocks")
    func removedWhileUnlocking() async throws {
        let key = HeldKey(free: 2)
        let vault = try await desk.open(with: key, desk.key, creating: true)
        let checked = Task { try await vault.unlock(with: [key]) }
        await key.isHeld.pass()
        defer { key.letGo() }
        try await vault.remove(slot: 1, force: true)
        key.letGo()
        await #expect(throws: VaultError.noSlotOpens(path: desk.path, tried: [key.kind])) { try await checked.value }
        #expect(await vault.state == .unlocked)
    }

    @Test("slots that are added and replaced at the same time come one after the other, and never exceed the limit")
    func atOnce() async throws {
        let vault = try await desk.open()
        let added = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<20 {
                group.addTask { (try? await vault.add(passphrase)) != nil }
                group.addTask {
                    _ = try? await vault.rewrap(slot: 1, with: passphrase)
                    return false
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(added == 15)
        #expect(try await vault.slots().map(\.kind) == Array(repeating: .passphrase, count: 16))
        await vault.close()
        await (try desk.open(with: passphrase)).close()
    }

    @Test("two calls that open the same vault at once make one file, and find it open")
    func openedTwice() async throws {
        let vault = Vault(path: desk.path)
        async let first: Void = vault.unseal(with: [desk.key], creating: true)
        async let second: Void = vault.unseal(with: [desk.key], creating: true)
        _ = try await (first, second)
        #expect(await vault.state == .unlocked)
        #expect(try await vault.slots().count == 1)
    }
}
