@_spi(KeyBytes) import Cryptography
import Foundation
import Groundwork
import Storage
import Testing

@_spi(KeyBytes) @testable import Vault

/// Vaults as released versions have written them, in `Formats`: each has to open in every later version.
@Suite("Vaults of earlier versions")
struct FormatTests {
    private static let phrase = "correct horse battery"
    private static let device = RecordName(scope: "gateway.example:8443/", name: "certificate")
    private static let publicKey = RecordName(scope: "gateway.example:8443/", name: "public-key")
    private static let long = String(repeating: "long ", count: 2000)

    let desk = try! Desk()  // Without a temporary directory there is nothing to test.
    let passphrase = Passphrase(SecretBytes(utf8: phrase), cost: lightCost)

    /// What a vault of this version is filled with, to be kept when a version with another format is released.
    private func fill() async throws {
        let vault = try await desk.open()
        _ = try await vault.add(passphrase)
        try await vault.commit([
            .put(token, .token, SecretBytes(utf8: "first")),
            .put(Self.device, .certificateChain, SecretBytes(utf8: Self.long)),
        ])
        try await vault.put(token, "second")
        let made = try await vault.keys(of: token.scope).make(.p256, label: "device")
        try await vault.put(Self.publicKey, Hex.encode(made.key.publicKey.spki))
        await vault.close()
    }

    @Test(
        "a vault opens with all its records by each of its keys, and takes changes",
        arguments: ["0.1.0", "this version"])
    func opens(version: String) async throws {
        if version == "this version" {
            try await fill()
        } else {
            try desk.take(version)
        }
        for key in [desk.key, passphrase] as [any SlotKey] {
            let vault = try await desk.open(with: key)
            #expect(try await vault.faults() == [])
            #expect(try await vault.text(token) == "second")
            let certificate = try await vault.record(Self.device)
            #expect(certificate?.kind == .certificateChain && certificate?.content.exposedText() == Self.long)
            let keys = vault.keys(of: token.scope)
            let references = try await keys.references()
            let reference = try #require(references.first)
            #expect(references.count == 1 && reference.description.hasPrefix("software:device"))
            let signer = try #require(try await keys.key(reference))
            #expect(try await vault.text(Self.publicKey) == Hex.encode(signer.publicKey.spki))
            await vault.close()
        }
        let vault = try await desk.open(with: passphrase)
        try await vault.put(token, "third")
        await vault.close()
        #expect(try await desk.open(creating: false).text(token) == "third")
    }

    @Test("a vault whose list of records cannot be taken over stays as it was, and can be at the next start")
    func interrupted() async throws {
        try desk.take("0.1.0")
        try desk.tamper("CREATE TRIGGER refuse BEFORE INSERT ON page BEGIN SELECT RAISE(ABORT, 'no'); END")
        let list = try desk.column("SELECT root FROM vault WHERE format = 1")
        await #expect(throws: VaultError.self) { try await desk.open(creating: false) }
        #expect(try desk.column("SELECT root FROM vault WHERE format = 1") == list)
        #expect(try desk.column("SELECT wrapped FROM key").isEmpty)
        try desk.tamper("DROP TRIGGER refuse")
        let vault = try await desk.open(creating: false)
        #expect(try await vault.text(token) == "second")
        #expect(try await vault.faults() == [])
    }

    @Test("a list of records of format 1 that is damaged, or put back later, is noticed")
    func oldList() async throws {
        try desk.take("0.1.0")
        let list = try desk.column("SELECT root FROM vault")
        try desk.flip("root", of: "vault")
        await #expect(throws: VaultError.manifestDamaged(path: desk.path)) { try await desk.open(creating: false) }
        try desk.flip("root", of: "vault")
        let vault = try await desk.open(creating: false)
        try await vault.put(token, "third")
        await vault.close()
        try desk.tamper("UPDATE vault SET root = ?1, format = 1", .blob(list))
        let again = try await desk.open(creating: false)
        await #expect(throws: VaultError.recordRolledBack(name: token)) { try await again.record(token) }
    }
}
