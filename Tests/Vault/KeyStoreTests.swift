@_spi(KeyBytes) import Cryptography
import Foundation
import Groundwork
import Testing

@_spi(KeyBytes) @testable import Vault

@Suite("The key store")
struct KeyStoreTests {
    let desk = try! Desk()  // Without a temporary directory there is nothing to test.
    private let scope = token.scope

    private func reference(_ text: String = "software:device") throws -> KeyReference {
        try #require(KeyReference(text))
    }

    // MARK: Make, find, delete

    @Test(
        "the key store finds a key by its reference after a restart",
        arguments: [PrivateKey.Algorithm.p256, .rsa(bits: 2048)])
    func found(_ algorithm: PrivateKey.Algorithm) async throws {
        let vault = try await desk.open()
        let made = try await vault.keys(of: scope).make(algorithm, label: "device")
        await vault.close()
        let keys = try await desk.open(creating: false).keys(of: scope)
        let found = try #require(try await keys.key(try reference(made.reference.description)))
        #expect(found.publicKey == made.key.publicKey)
        #expect(try found.pkcs8() == made.key.pkcs8())
        #expect(try await keys.references() == [made.reference])
    }

    @Test("the key store takes a key from a test once, if nobody else could read it")
    func given() throws {
        let file = URL(filePath: desk.directory + "/given.key")
        let key = try PrivateKey(generating: .p256)
        func give(mode: Int) throws {
            try Data(try key.pkcs8().exposed()).write(to: file)
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
        }
        try give(mode: 0o644)
        #expect(GivenKey.taken(from: file.path) == nil)
        try give(mode: 0o600)
        #expect(try #require(GivenKey.taken(from: file.path)).publicKey == key.publicKey)
        #expect(GivenKey.taken(from: file.path) == nil)
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }

    @Test("the key store never gives two keys one name, and knows nothing of another scope's keys")
    func apart() async throws {
        let vault = try await desk.open()
        let (keys, others) = (vault.keys(of: scope), vault.keys(of: "other.example:443/"))
        let first = try await keys.make(.p256, label: "device")
        let second = try await keys.make(.p256, label: "device")
        let third = try await others.make(.p256, label: "device")
        #expect(try await keys.references() == [first.reference, second.reference])
        #expect(try await others.references() == [third.reference])
        #expect(try await keys.key(third.reference) == nil)
        try await others.sweep(keeping: [])
        #expect(try await keys.references().count == 2)
    }

    @Test("the key store removes a key, and one that is not there without an error")
    func removed() async throws {
        let vault = try await desk.open()
        let keys = vault.keys(of: scope)
        let made = try await keys.make(.p256, label: "device")
        try await vault.commit(keys.removal(of: made.reference))
        #expect(try await keys.key(made.reference) == nil)
        #expect(try await keys.references() == [])
        try await vault.commit(keys.removal(of: made.reference))
    }

    @Test("the key store removes a key and its reference in one commit, or neither")
    func removedTogether() async throws {
        let vault = try await desk.open()
        let keys = vault.keys(of: scope)
        let made = try await keys.make(.p256, label: "device")
        let naming = RecordName(scope: scope, name: "device")
        try await vault.put(naming, made.reference.description)
        try desk.tamper(
            """
            CREATE TRIGGER refuse BEFORE DELETE ON record WHEN OLD.name = 'device'
            BEGIN SELECT RAISE(ABORT, 'no'); END
            """
        )
        await #expect(throws: VaultError.self) {
            try await vault.commit(keys.removal(of: made.reference) + [.remove(naming)])
        }
        #expect(try await keys.key(made.reference) != nil)
        try desk.tamper("DROP TRIGGER refuse")
        try await vault.commit(keys.removal(of: made.reference) + [.remove(naming)])
        #expect(try await vault.names(scope: scope) == [])
    }

    @Test("the key store makes no key for a label that no reference can have", arguments: ["", "Device", "a:b"])
    func label(_ label: String) async throws {
        let vault = try await desk.open()
        let error = VaultError.nameNotAllowed(name: RecordName(scope: scope, name: label), kind: .privateKey)
        await #expect(throws: error) { try await vault.keys(of: scope).make(.p256, label: label) }
        #expect(try await vault.scopes() == [])
    }

    // MARK: After a crash

    @Test("the key store sweeps a key that a crash left without a record that names it, and no others")
    func swept() async throws {
        var kept: KeyReference
        do {
            let vault = try await desk.open()
            let keys = vault.keys(of: scope)
            kept = try await keys.make(.p256, label: "device").reference
            try await vault.put(RecordName(scope: scope, name: "device"), kept.description)
            // Here the process ends: the file is left as it is, with what SQLite has in its log.
            _ = try await keys.make(.p256, label: "device")
        }
        let after = try Desk()
        for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: desk.path + suffix) {
            try after.write(try desk.bytes(suffix), to: after.path + suffix)
        }
        let vault = try await after.open(with: desk.key)
        let keys = vault.keys(of: scope)
        #expect(try await keys.references().count == 2)
        #expect(try await keys.sweep(keeping: [kept]).count == 1)
        #expect(try await keys.references() == [kept])
        #expect(try await keys.key(kept) != nil)
        #expect(try await vault.text(RecordName(scope: scope, name: "device")) == kept.description)
        #expect(try await keys.sweep(keeping: [kept]) == [])
        #expect(try await vault.faults() == [])
    }

    @Test("the key store sweeps a key that cannot be read")
    func sweptDamaged() async throws {
        let keys = try await desk.open().keys(of: scope)
        let made = try await keys.make(.p256, label: "device")
        try desk.flip("sealed", of: "record")
        let name = made.reference.record(in: scope)
        await #expect(throws: VaultError.recordDamaged(name: name)) { try await keys.key(made.reference) }
        #expect(try await keys.sweep(keeping: []) == [made.reference])
        #expect(try await keys.references() == [])
    }

    // MARK: Who reads a key

    @Test("the key store alone reads keys: as records they are refused, whatever their names")
    func notARecord() async throws {
        let vault = try await desk.open()
        let name = try await vault.keys(of: scope).make(.p256, label: "device").reference.record(in: scope)
        let other = RecordName(scope: scope, name: "device-key")
        try await vault.commit([.put(other, .privateKey, try PrivateKey(generating: .p256).pkcs8())])
        for name in [name, other] {
            await #expect(throws: VaultError.recordIsKey(name: name)) { try await vault.record(name) }
        }
        for kind in [RecordKind.privateKey, .token] {
            await #expect(throws: VaultError.recordIsKey(name: name)) {
                try await vault.commit([.put(name, kind, SecretBytes(utf8: "mine"))])
            }
        }
        #expect(try await vault.faults() == [])
    }

    @Test(
        "the key store says so when what lies in a key's place is not a key",
        arguments: [RecordKind.privateKey, .token])
    func invalid(kind: RecordKind) async throws {
        let vault = try await desk.open()
        let name = try reference().record(in: scope)
        try await vault.write([.put(name, kind, SecretBytes(utf8: "not a key"))])
        await #expect(throws: VaultError.keyInvalid(name: name)) {
            try await vault.keys(of: scope).key(try reference())
        }
    }
}
