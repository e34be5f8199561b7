@_spi(KeyBytes) import Cryptography
import Foundation
import Groundwork
import Testing

@_spi(KeyBytes) @testable import Vault

@Suite("Keys in hardware")
struct KeptKeyTests {
    private let desk = try! Desk()  // Without a temporary directory there is nothing to test.
    private let keeper = MemoryKeeper()
    private let scope = token.scope

    private func open(_ keepers: [KeyReference.Keeper: any KeyKeeper]) async throws -> Vault {
        let vault = Vault(path: desk.path, keepers: keepers)
        try await vault.unseal(with: [desk.key], creating: true)
        return vault
    }

    /// A signature of a key in hardware has been verified by its public key.
    private func checkSigning(_ key: PrivateKey) throws {
        let algorithm = try #require(JWS.algorithm(of: key))
        #expect(try !JWS.sign([1], algorithm: algorithm, key: .key(key)).isEmpty)
    }

    @Test(
        "a key in hardware signs, also after a restart, and no bytes of it are in the vault",
        arguments: [PrivateKey.Algorithm.p256, .rsa(bits: 2048)])
    func found(_ algorithm: PrivateKey.Algorithm) async throws {
        let vault = try await open([.tpm: keeper])
        let made = try await vault.keys(of: scope).make(algorithm, label: "device", in: .tpm)
        #expect(made.reference.description.hasPrefix("tpm:device-"))
        try checkSigning(made.key)
        await vault.close()

        let keys = try await open([.tpm: keeper]).keys(of: scope)
        #expect(try await keys.references() == [made.reference])
        let found = try #require(try await keys.key(made.reference))
        #expect(found.publicKey == made.key.publicKey)
        try checkSigning(found)
        #expect(throws: CryptographyError.self) { try found.pkcs8() }
    }

    @Test("a vault opens without the hardware of its keys, and says where they are")
    func missing() async throws {
        let made = try await open([.tpm: keeper]).keys(of: scope).make(.p256, label: "device", in: .tpm)
        let vault = try await open([:])
        await #expect(throws: VaultError.keeperMissing(.tpm)) { try await vault.keys(of: scope).key(made.reference) }
        await #expect(throws: VaultError.keeperMissing(.pkcs11)) {
            try await vault.keys(of: scope).make(.p256, label: "device", in: .pkcs11)
        }
    }

    @Test("a key in hardware is destroyed once its record is gone, and only it")
    func removed() async throws {
        let vault = try await open([.tpm: keeper])
        let keys = vault.keys(of: scope)
        let (kept, dropped) = (
            try await keys.make(.p256, label: "kept", in: .tpm), try await keys.make(.p256, label: "old", in: .tpm)
        )
        let tooMany = [UInt8](repeating: 0, count: Change.contentLimit + 1)
        await #expect(throws: VaultError.self) {
            try await vault.commit(keys.removal(of: dropped.reference) + [.put(token, .token, SecretBytes(tooMany))])
        }
        #expect(keeper.count == 2)
        try await keys.sweep(keeping: [kept.reference])
        var destroyed = keeper.destroyed.stream.makeAsyncIterator()
        #expect(await destroyed.next() == dropped.key.publicKey)
        #expect(keeper.count == 1)
        #expect(try await keys.key(kept.reference)?.publicKey == kept.key.publicKey)
    }

    @Test("a key whose record cannot be written is not left in hardware")
    func unrecorded() async throws {
        let keeper = MemoryKeeper { [desk] in try desk.tamper("DROP TABLE record") }
        let vault = try await open([.tpm: keeper])
        await #expect(throws: VaultError.self) {
            try await vault.keys(of: scope).make(.p256, label: "device", in: .tpm)
        }
        #expect(keeper.count == 0)
    }

    @Test("a refusal of the hardware is passed on, and leaves no record")
    func refused() async throws {
        let keys = try await open([.tpm: MemoryKeeper { throw VaultError.passphraseEmpty }]).keys(of: scope)
        await #expect(throws: VaultError.passphraseEmpty) { try await keys.make(.p256, label: "device", in: .tpm) }
        #expect(try await keys.references() == [])
        let elsewhere = try await open([.tpm: keeper]).keys(of: String(repeating: "x", count: 1025))
        await #expect(throws: VaultError.self) { try await elsewhere.make(.p256, label: "device", in: .tpm) }
        #expect(keeper.count == 0)
    }

    @Test("a sweep destroys what no record names, and nothing else")
    func swept() async throws {
        let vault = try await open([.tpm: keeper])
        let kept = try await vault.keys(of: scope).make(.p256, label: "device", in: .tpm)
        let orphan = try keeper.make(.p256, name: "orphan", of: [])
        #expect(try await vault.sweepHardware() == 1)
        var destroyed = keeper.destroyed.stream.makeAsyncIterator()
        #expect(await destroyed.next() == orphan.publicKey)
        #expect(keeper.count == 1)
        try checkSigning(kept.key)
    }

    @Test("a record that is no key in hardware is told apart, and does not crash")
    func invalid() async throws {
        let vault = try await open([.tpm: keeper])
        let made = try await vault.keys(of: scope).make(.p256, label: "device", in: .software)
        let record = try #require(await vault.exposedRecord(made.reference.record(in: scope)))
        #expect(throws: VaultError.keyInvalid(name: record.name)) { try record.keptKey() }
        let encoded = try keeper.make(.p256, name: "x", of: []).encoded().exposed()
        #expect(KeptKey(decoding: SecretBytes(encoded)) != nil)
        for count in encoded.indices { #expect(KeptKey(decoding: SecretBytes(encoded.prefix(count))) == nil) }
        #expect(KeptKey(decoding: SecretBytes(encoded + [0])) == nil)
    }
}
