import Cryptography
import Foundation
import Groundwork
import Storage
import TestSupport
import Testing

@testable import Vault

@Suite("A vault that is locked")
struct LockTests {
    let desk = try! Desk()  // Without a temporary directory there is nothing to test.
    private let passphrase = Passphrase(SecretBytes(utf8: "correct horse battery"), cost: lightCost)

    @Test("a locked vault refuses to read and write, and does both again when it is unlocked")
    func lockAndUnlock() async throws {
        let vault = try await desk.open()
        let made = try await vault.keys(of: token.scope).make(.p256, label: "device")
        try await vault.put(token, "a")
        #expect(await vault.state == .unlocked)
        await vault.lock()
        await vault.lock()
        #expect(await vault.state == .locked)
        let keys = vault.keys(of: token.scope)
        for attempt in [
            { _ = try await vault.record(token) }, { _ = try await vault.names(scope: "") },
            { _ = try await vault.scopes() }, { _ = try await vault.faults() }, { _ = try await vault.openedBy() },
            { try await vault.put(token, "b") }, { try await vault.commit([]) },
            { try await vault.add(passphrase) }, { try await vault.remove(slot: 1) },
            { try await vault.rewrap(slot: 1, with: passphrase) }, { _ = try await keys.key(made.reference) },
            { _ = try await keys.make(.p256, label: "device") }, { try await keys.sweep(keeping: []) },
            { _ = try await keys.references() }, { try await vault.commit(keys.removal(of: made.reference)) },
        ] as [() async throws -> Void] {
            await #expect(throws: VaultError.locked(path: desk.path)) { try await attempt() }
        }
        // What would unlock it can be seen.
        #expect(try await vault.slots().map(\.kind) == [.developmentFile])
        try await vault.unlock(with: [desk.key])
        #expect(await vault.state == .unlocked)
        #expect(try await vault.text(token) == "a")
        #expect(try await vault.keys(of: token.scope).key(made.reference)?.publicKey == made.key.publicKey)
        try await vault.put(token, "b")
        #expect(try await vault.faults() == [])
    }

    @Test("a locked vault stays locked when no key fits, and is unlocked by whichever of its slots")
    func otherSlot() async throws {
        let vault = try await desk.open()
        try await vault.add(passphrase)
        await vault.lock()
        let wrong = Passphrase(SecretBytes(utf8: "wrong"), cost: lightCost)
        await #expect(throws: VaultError.noSlotOpens(path: desk.path, tried: [.passphrase])) {
            try await vault.unlock(with: [wrong])
        }
        #expect(await vault.state == .locked)
        try await vault.unlock(with: [passphrase])
        #expect(try await vault.openedBy().kind == .passphrase)
        // One that is unlocked still wants a key that fits.
        await #expect(throws: VaultError.noSlotOpens(path: desk.path, tried: [.passphrase])) {
            try await vault.unlock(with: [wrong])
        }
        #expect(await vault.state == .unlocked)
    }

    @Test("a vault says every change of its lock, once each, and that it was closed as the last")
    func states() async throws {
        let vault = try await desk.open()
        let states = vault.states.subscribe()
        await vault.lock()
        await vault.lock()
        try await vault.unlock(with: [desk.key])
        try await vault.unlock(with: [desk.key])
        await vault.lock()
        await vault.close()
        await vault.close()
        var seen: [Vault.State] = []
        for await state in states { seen.append(state) }
        #expect(seen == [.locked, .unlocked, .locked, .closed])
        #expect(await vault.state == .closed)
        await vault.lock()
        #expect(await vault.state == .closed)
        await #expect(throws: VaultError.closed(path: desk.path)) { try await vault.unlock(with: [desk.key]) }
        await #expect(throws: VaultError.closed(path: desk.path)) { try await vault.record(token) }
    }

    @Test("a locked vault notices that an earlier state of the file was put back meanwhile")
    func rolledBack() async throws {
        let vault = try await desk.open()
        try await vault.put(token, "a")
        let earlier = try desk.list()
        try await vault.put(token, "b")
        await vault.lock()
        try desk.put(back: earlier)
        await #expect(throws: VaultError.manifestRolledBack(path: desk.path)) {
            try await vault.unlock(with: [desk.key])
        }
        #expect(await vault.state == .locked)
    }

    @Test("locking a vault ends a commit under way as a whole or refuses it, and readers get the error")
    func underWay() async throws {
        let vault = try await desk.open()
        let pair = ["first", "second"].map { RecordName(scope: "", name: $0) }
        try await vault.commit(pair.map { .put($0, .state, SecretBytes(utf8: "0")) })
        let rounds = 8
        for round in 1...rounds {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<20 {
                    group.addTask {
                        do {
                            let value = "\(round) \(number)"
                            try await vault.commit(pair.map { .put($0, .state, SecretBytes(utf8: value)) })
                        } catch VaultError.locked {}
                    }
                    group.addTask {
                        do { _ = try await vault.text(pair[0]) } catch VaultError.locked {}
                    }
                }
                group.addTask { await vault.lock() }
                try await group.waitForAll()
            }
            #expect(await vault.state == .locked)
            try await vault.unlock(with: [desk.key])
            #expect(try await vault.text(pair[0]) == vault.text(pair[1]))
        }
        #expect(try await vault.faults() == [])
    }

    @Test("a locked vault has no root key in memory")
    func wiped() async throws {
        let vault = try await desk.open()
        try await vault.put(token, "a")
        let key = try await vault.maskedRootKey()
        #expect(try key.isInMemory(), "the search finds the key of a vault that is unlocked")
        #expect(try await vault.isWipedByLocking())
        #expect(try !key.isInMemory())
        try await vault.unlock(with: [desk.key])
        #expect(try key.isInMemory())
    }
}

extension Vault {
    /// Whether locking leaves nobody who refers to the root key: it is wiped with the last reference.
    fileprivate func isWipedByLocking() throws -> Bool {
        weak let key = try access().seal.rootKey
        guard key != nil else { return false }
        lock()
        return key == nil
    }

    fileprivate func maskedRootKey() throws -> MaskedSecret { MaskedSecret(try rootKey()) }
}
