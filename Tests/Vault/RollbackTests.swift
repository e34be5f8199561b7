import Cryptography
import Foundation
import TestSupport
import Testing

@testable import Vault

@Suite("Guard against an earlier copy of a vault")
struct RollbackTests {
    let bench = try! GuardBench()  // Without swtpm there is nothing to test.
    private static let passphrase = Passphrase(SecretBytes(utf8: "a passphrase of many bytes"), cost: lightCost)

    @Test("a guarded vault counts starts, slots, new keys and what asks for it, and opens without complaint")
    func counting() async throws {
        try await bench.fill()
        var last = try await bench.withVault { try await $0.anchored() }
        for step in 0..<4 {
            try await bench.withVault { vault in
                try await vault.checkRollback()
                switch step {
                case 0: try await vault.commit([.put(token, .token, SecretBytes(utf8: "a"))], counting: true)
                case 1: try await vault.add(Self.passphrase)
                case 2: _ = try await vault.rekey()
                default: try await vault.remove(slot: 2, force: true)
                }
                try await vault.checkRollback()
                let now = try await vault.anchored()
                #expect(now == last + 1)
                last = now
                // Other commits do not.
                try await vault.put(token, "b")
                #expect(try await vault.anchored() == last)
            }
            #expect(try await bench.fault() == nil)
        }
        // Within a minute of another count, a start is none.
        try await bench.withVault { vault in
            try await vault.countStart()
            #expect(try await vault.anchored() == last)
        }
    }

    @Test("a copy from before tries of a passcode is refused, and no try is made on it", arguments: [0, 3])
    func tries(limit: Int) async throws {
        try await bench.fill(limit: limit)
        let copy = try bench.copy()
        for _ in 0..<2 {
            try await bench.withVault { vault in
                bench.bench.passWait()
                await #expect(throws: VaultError.self) {
                    try await bench.bench.compartment(of: vault).unlock(by: PasscodeBench.wrong)
                }
            }
        }
        try bench.putBack(copy)
        bench.bench.passWait()
        try await bench.withVault { vault in
            let compartment = bench.bench.compartment(of: vault)
            for passcode in [PasscodeBench.wrong, PasscodeBench.right] {
                await #expect(throws: VaultError.rollback(.rolledBack)) { try await compartment.unlock(by: passcode) }
            }
            #expect(try await compartment.status().failures == 0)
            // The board's own records stay readable, and it goes on.
            #expect(try await vault.text(token) == "token")
            try await vault.commit([.put(token, .token, SecretBytes(utf8: "later"))], counting: true)
            // Nor does a new root key hide it.
            await #expect(throws: VaultError.rollback(.rolledBack)) {
                try await vault.replaceRootKey(for: bench.desk.key, dropping: [])
            }
        }
        #expect(try await bench.fault() == .rolledBack)

        try await bench.withVault { vault in
            try await vault.acceptRollback()
            try await bench.bench.compartment(of: vault).unlock(by: PasscodeBench.right)
            #expect(try await vault.text(token) == "later")
        }
        #expect(try await bench.fault() == nil)
        #expect(try bench.indexes() == 1)
    }

    @Test("a copy from before the counter was made is refused, too")
    func copyWithoutCounter() async throws {
        try await bench.desk.fill((token, "old"))
        let copy = try bench.copy()
        try await bench.withVault { try await $0.checkRollback() }
        try bench.putBack(copy)
        #expect(try await bench.fault() == .rolledBack)
        try await bench.withVault { try await $0.acceptRollback() }
        #expect(try await bench.fault() == nil)
    }

    @Test("a counter that another program removed is named, and a new one is made when that is accepted")
    func removed() async throws {
        try await bench.fill()
        let index = try await bench.withVault { try #require(try await $0.rootOfList().anchoring.anchor).counter.index }
        try index.remove(from: bench.chip)
        #expect(try await bench.fault() == .counterMissing)
        try await bench.withVault { vault in
            await #expect(throws: VaultError.rollback(.counterMissing)) {
                try await bench.bench.compartment(of: vault).unlock(by: PasscodeBench.right)
            }
            try await vault.acceptRollback()
        }
        #expect(try await bench.fault() == nil)
    }

    @Test("another TPM, and one that was cleared, are named, and can be accepted")
    func otherChip() async throws {
        try await bench.fill()
        let other = try SoftwareTPM()
        #expect(try await bench.fault(in: other) == .otherChip)
        #expect(try await bench.fault() == nil)
        try #require(try bench.software.run("tpm2_clear", "-c", "p") == 0)
        #expect(try await bench.fault() == .otherChip)
        try await bench.withVault { try await $0.acceptRollback() }
        #expect(try await bench.fault() == nil)
        #expect(try bench.indexes() == 1)
    }

    @Test("a TPM that has lost counts is named")
    func behind() async throws {
        try await bench.fill()
        try await bench.withVault { vault in
            try await vault.alterAnchor { Anchor(counter: $0.counter, value: $0.value + 2) }
        }
        #expect(try await bench.fault() == .counterBehind)
    }

    @Test("while a TPM does not answer, everything goes on but tries of the passcode, and counts when it is back")
    func absent() async throws {
        try await bench.fill()
        let vault = try await bench.open()
        let compartment = bench.bench.compartment(of: vault)
        bench.software.stop()
        let before = try await vault.anchored()
        await #expect(throws: VaultError.chip(.absent(place: bench.software.place))) {
            try await compartment.unlock(by: PasscodeBench.right)
        }
        #expect(try await compartment.status().failures == 0)
        for content in ["a", "b"] {
            try await vault.commit([.put(token, .token, SecretBytes(utf8: content))], counting: true)
        }
        try await vault.add(Self.passphrase)
        #expect(try await vault.anchored() == before)
        try bench.software.start()
        try await compartment.unlock(by: PasscodeBench.right)
        // The try, and perhaps what was due before it.
        #expect(try await (1...2).contains(vault.anchored() - before))
        await vault.close()
        #expect(try await bench.fault() == nil)
    }

    @Test("a TPM that stalls holds up no commit and no reading")
    func stalled() async throws {
        let port = try UnusedPort.reservePair()
        // Takes connections, and never answers.
        let (listener, control) = (try LocalPort.listen(on: port), try LocalPort.listen(on: port + 1))
        let vault = try await bench.desk.open()
        await vault.guardAgainstRollback(by: Chip(at: SoftwareTPM.place(port)))
        let check = Task { try await vault.checkRollback() }
        for number in 0..<50 {
            try await vault.commit([.put(token, .token, SecretBytes(utf8: "\(number)"))], counting: number % 5 == 0)
            #expect(try await vault.text(token) == "\(number)")
        }
        for descriptor in [listener, control] { close(descriptor) }
        await #expect(throws: VaultError.self) { try await check.value }
        await vault.close()
    }

    @Test("a new root key gets a counter of its own, and the former one is removed")
    func rootKey() async throws {
        try await bench.fill()
        let copy = try bench.copy()
        try await bench.withVault { vault in
            let former = try await vault.rootOfList().anchoring.anchor
            _ = try await vault.replaceRootKey(for: bench.desk.key, dropping: [])
            try await vault.checkRollback()
            #expect(try await vault.rootOfList().anchoring.anchor?.counter.index.number != former?.counter.index.number)
            #expect(try await vault.rootOfList().anchoring.retired == [])
        }
        #expect(try bench.indexes() == 1)
        #expect(try await bench.fault() == nil)
        try bench.putBack(copy)
        #expect(try await bench.fault() == .counterMissing)
    }

    @Test("a vault that is no longer guarded leaves nothing in the TPM")
    func ended() async throws {
        try await bench.fill()
        try await bench.withVault { vault in
            bench.software.stop()
            await #expect(throws: VaultError.self) { try await vault.endGuarding(by: bench.chip) }
            try bench.software.start()
            #expect(try await vault.hasCounter())
            try await vault.endGuarding(by: bench.chip)
            #expect(try await !vault.hasCounter())
        }
        #expect(try bench.indexes() == 0)
        #expect(try await bench.fault() == nil)
    }

    @Test("a copy that is restored into another vault leaves that one's own counter")
    func restored() async throws {
        try await bench.fill()
        let target = try GuardBench()
        try await target.withVault { try await $0.checkRollback() }
        try await bench.withVault { _ = try await bench.desk.export($0) }
        let before = try await target.withVault { try await $0.rootOfList().anchoring }
        try await target.withVault { vault in
            _ = try await vault.restore(from: bench.desk.exportPath, passphrase: Desk.passphrase) { _ in false }
            #expect(try await vault.rootOfList().anchoring == before)
            #expect(try await vault.text(token) == "token")
        }
        #expect(try await target.fault() == nil)
    }
}

extension Vault {
    func rootOfList() throws -> ManifestRoot { try root(try access()) }
    func anchored() throws -> UInt64 { try #require(try rootOfList().anchoring.anchor).value }

    func alterAnchor(_ change: (Anchor) -> Anchor) throws {
        let unsealed = try access()
        var root = try root(unsealed)
        root.generation += 1
        root.anchoring.use(change(try #require(root.anchoring.anchor)))
        try unsealed.file.write(root, unsealed.seal)
    }
}

extension GuardBench {
    /// How many pieces of the TPM's memory this program has.
    func indexes() throws -> Int {
        String(decoding: try software.capabilities("handles-nv-index"), as: UTF8.self)
            .matches(of: /(?i)0x181[0-9a-f]{4}/).count
    }
}
