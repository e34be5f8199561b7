import Cryptography
import Foundation
import Groundwork
import TestSupport
import Testing

@testable import Vault

@Suite("Key pairs that stay inside")
struct KeyPairTests {
    let desk = try! Desk()  // Without a temporary directory there is nothing to test.
    private let message = Array("message".utf8)

    private func python(_ key: PublicKey, _ words: String..., input: [UInt8]) async throws -> String {
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "check_pair.py").path
        let program = Program(url: URL(filePath: "/usr/bin/python3"))
        let result = try await program.run(
            ["-B", script, Hex.encode(key.spki)] + words, input: Hex.encode(input))
        try #require(result.status == 0, "\(result.errors)")
        return result.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    @Test(
        "key pairs sign for a reader in Python, and verify what they signed (checklist 173)",
        arguments: [
            (PrivateKey.Algorithm.rsa(bits: 2048), [JWS.Algorithm.RS256, .PS256]),
            (.rsa(bits: 3072), [.RS256, .PS256]),
            (.p256, [.ES256]),
        ])
    func sign(kind: PrivateKey.Algorithm, algorithms: [JWS.Algorithm]) async throws {
        let service = CryptoService(try await desk.open())
        let key = try await service.makePair("tag", kind, in: .software, of: 1000)
        #expect(try await service.publicKey("tag.public", of: 1000) == key)
        for algorithm in algorithms {
            let signature = try await service.sign(message, with: "tag.private", by: algorithm, of: 1000).signature
            let verdict = try await python(
                key, "verify", algorithm.rawValue, Hex.encode(signature), input: message)
            #expect(verdict == "valid")
            #expect(try await service.verifies(signature, of: message, with: "tag", by: algorithm, of: 1000))
            var other = signature
            other[10] ^= 1
            #expect(try await !service.verifies(other, of: message, with: "tag", by: algorithm, of: 1000))
            #expect(try await !service.verifies([], of: message, with: "tag", by: algorithm, of: 1000))
            #expect(try await !service.verifies(signature, of: [1], with: "tag", by: algorithm, of: 1000))
        }
        #expect(try await service.sign(message, with: "tag", of: 1000).algorithm == algorithms[0])
        let others = Set(JWS.Algorithm.allCases).subtracting(algorithms).subtracting([.RS384, .RS512, .PS384, .PS512])
        for algorithm in others {
            await #expect(throws: ObjectError.keyUnfit(name: "tag")) {
                try await service.sign(message, with: "tag", by: algorithm, of: 1000)
            }
        }
    }

    @Test("RSA pairs unwrap what they, and Python, wrapped for them; the old format only as legacy (checklist 173)")
    func wrap() async throws {
        let service = CryptoService(try await desk.open())
        let key = try await service.makePair("tag", .rsa(bits: 2048), in: .software, of: 1000)
        let secret = try SecretBytes.random(32)
        let wrapped = try await service.wrap(secret, with: "tag.public", of: 1000)
        #expect(try await service.unwrap(wrapped, with: "tag.private", legacy: false, of: 1000) == secret)
        for way in ["oaep", "v15"] {
            let theirs = try #require(
                Hex.decode(try await python(key, "wrap", way, input: secret.exposed())))
            #expect(try await service.unwrap(theirs, with: "tag", legacy: way == "v15", of: 1000) == secret)
            let read = try? await service.unwrap(theirs, with: "tag", legacy: way != "v15", of: 1000)
            #expect(read != secret)
        }
    }

    @Test("every failure of unwrapping is the same")
    func unwrapFailures() async throws {
        let service = CryptoService(try await desk.open())
        _ = try await service.makePair("tag", .rsa(bits: 2048), in: .software, of: 1000)
        let wrapped = try await service.wrap(SecretBytes(utf8: "secret"), with: "tag", of: 1000)
        var other = wrapped
        other[100] ^= 1
        let large = [UInt8](repeating: 0xFF, count: 256)
        for bytes in [
            other, [], [0], wrapped + [0], Array(wrapped.dropLast()), large, [UInt8](repeating: 0, count: 256),
        ] {
            await #expect(throws: FormatError.undecryptable) {
                try await service.unwrap(bytes, with: "tag", legacy: false, of: 1000)
            }
        }
    }

    @Test("what a key cannot do is refused by its name, and a second removal finds nothing (checklist 173)")
    func refused() async throws {
        let service = CryptoService(try await desk.open())
        _ = try await service.makePair("tag", .p256, in: .software, of: 1000)
        await #expect(throws: ObjectError.keyUnfit(name: "tag")) {
            try await service.wrap(SecretBytes([1]), with: "tag", of: 1000)
        }
        await #expect(throws: ObjectError.keyUnfit(name: "tag")) {
            try await service.unwrap([1], with: "tag", legacy: false, of: 1000)
        }
        await #expect(throws: ObjectError.exists(name: "tag")) {
            try await service.makePair("tag", .rsa(bits: 2048), in: .software, of: 1000)
        }
        await #expect(throws: ObjectError.exists(name: "tag")) { try await service.makeKey("tag", of: 1000) }
        try await service.makeKey("key", of: 1000)
        await #expect(throws: ObjectError.exists(name: "key")) {
            try await service.makePair("key", .p256, in: .software, of: 1000)
        }
        await #expect(throws: FormatError.keySize) {
            try await service.makePair("other", .rsa(bits: 4096), in: .software, of: 1000)
        }
        for name in ["tag.public", "tag.private.private", "other", ""] {
            await #expect(throws: ObjectError.notFound(name: name)) {
                try await service.sign(message, with: name, of: 1000)
            }
        }
        await #expect(throws: ObjectError.notFound(name: "tag")) { try await service.sign(message, with: "tag", of: 1) }
        await #expect(throws: FormatError.emptyText) { try await service.sign([], with: "tag", of: 1000) }
        try await service.remove("tag", of: 1000)
        await #expect(throws: ObjectError.notFound(name: "tag")) { try await service.remove("tag", of: 1000) }
        await #expect(throws: ObjectError.notFound(name: "tag")) { try await service.publicKey("tag", of: 1000) }
    }

    @Test("a key pair in a TPM signs there, and only signs (checklist 173)")
    func hardware() async throws {
        let software = try SoftwareTPM()
        let vault = Vault(path: desk.path, keepers: [.tpm: TPMKeys(software.chip)])
        try await vault.unseal(with: [desk.key], creating: true)
        let service = CryptoService(vault)
        for (tag, kind, algorithm) in [("a", PrivateKey.Algorithm.rsa(bits: 2048), "PS256"), ("b", .p256, "ES256")] {
            let key = try await service.makePair(tag, kind, in: .tpm, of: 1000)
            let signed = try await service.sign(
                message, with: tag, by: JWS.Algorithm(rawValue: algorithm), of: 1000)
            let verdict = try await python(
                key, "verify", algorithm, Hex.encode(signed.signature), input: message)
            #expect(verdict == "valid")
        }
        #expect(try await service.pairs(of: 1000).map(\.reference.description) == ["tpm:a", "tpm:b"])
        await #expect(throws: ObjectError.exists(name: "a")) {
            try await service.makePair("a", .p256, in: .software, of: 1000)
        }
        let wrapped = try await service.wrap(SecretBytes([1]), with: "a", of: 1000)
        await #expect(throws: ObjectError.keyUnfit(name: "a")) {
            try await service.unwrap(wrapped, with: "a", legacy: false, of: 1000)
        }
        try await service.remove("a", of: 1000)
        #expect(try await service.pairs(of: 1000).map(\.reference.name) == ["b"])
    }

    @Test("no pair is made by a keeper that would give an existing key")
    func existing() async throws {
        let vault = Vault(path: desk.path, keepers: [.pkcs11: GivingKeeper()])
        try await vault.unseal(with: [desk.key], creating: true)
        await #expect(throws: ObjectError.keeperUnfit(.pkcs11)) {
            try await CryptoService(vault).makePair("tag", .p256, in: .pkcs11, of: 1000)
        }
    }
}

/// A keeper whose key is there already.
private struct GivingKeeper: KeyKeeper {
    let memory = MemoryKeeper()
    var makesNewKeys: Bool { false }

    func make(_ algorithm: PrivateKey.Algorithm, name: String, of vaultID: [UInt8]) throws(VaultError) -> KeptKey {
        try memory.make(algorithm, name: name, of: vaultID)
    }
    func signer(of key: KeptKey) throws(VaultError) -> any ForeignKey { try memory.signer(of: key) }
    func destroy(_ key: KeptKey, of vaultID: [UInt8]) throws(VaultError) {}
    func orphans(of vaultID: [UInt8], known: [KeptKey]) throws(VaultError) -> [KeptKey] { [] }
}
