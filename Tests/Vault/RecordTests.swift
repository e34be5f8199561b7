import Cryptography
import Foundation
import Testing

@testable import Vault

@Suite("Records of the vault")
struct RecordTests {
    let desk = try! Desk()  // Without a temporary directory there is nothing to test.

    @Test("records of the vault are found again after a restart, with kind, version and every byte")
    func restart() async throws {
        let vault = try await desk.open()
        let content = SecretBytes((0...255).map { UInt8($0) })
        try await vault.commit([.put(deviceKey, .state, content), .put(token, .token, SecretBytes([]))])
        await vault.close()
        let again = try await desk.open(creating: false)
        let expected = Record(name: deviceKey, kind: .state, version: 1, content: content)
        #expect(try await again.record(deviceKey) == expected)
        #expect(try await again.record(token)?.content.count == 0)
        #expect(try await again.record(RecordName(scope: "", name: "token")) == nil)
    }

    @Test("records of the vault rise in version with every write, and never take a version twice")
    func versions() async throws {
        let vault = try await desk.open()
        try await vault.put(token, "a")
        try await vault.put(token, "b")
        #expect(try await vault.record(token)?.version == 2)
        try await vault.commit([.remove(token)])
        #expect(try await vault.record(token) == nil)
        try await vault.put(token, "c")
        #expect(try await vault.record(token)?.version == 4)
    }

    @Test("records of the vault are committed together or not at all")
    func atomic() async throws {
        let vault = try await desk.open()
        try await vault.put(token, "old")
        let long = SecretBytes([UInt8](repeating: 0, count: Change.contentLimit + 1))
        await #expect(throws: VaultError.contentTooLong(name: deviceKey, bytes: 1_048_577, limit: 1_048_576)) {
            try await vault.commit([.put(token, .token, SecretBytes(utf8: "new")), .put(deviceKey, .privateKey, long)])
        }
        // Fails within the transaction, after the first change was written.
        try desk.tamper(
            """
            CREATE TRIGGER refuse BEFORE INSERT ON record WHEN NEW.name = 'device-key'
            BEGIN SELECT RAISE(ABORT, 'no'); END
            """)
        await #expect(throws: VaultError.self) {
            try await vault.commit([
                .put(token, .token, SecretBytes(utf8: "new")), .put(deviceKey, .privateKey, SecretBytes(utf8: "key")),
            ])
        }
        #expect(try await vault.text(token) == "old")
        #expect(try await vault.names(scope: "") == [])
        try await vault.put(token, "later")
        #expect(try await vault.faults() == [])
    }

    @Test("records of the vault take changes in their order, and the last one counts")
    func order() async throws {
        let vault = try await desk.open()
        try await vault.commit([
            .put(token, .token, SecretBytes(utf8: "a")), .remove(token), .put(token, .state, SecretBytes(utf8: "b")),
            .put(deviceKey, .privateKey, SecretBytes(utf8: "c")), .remove(deviceKey),
        ])
        #expect(try await vault.text(token) == "b")
        #expect(try await vault.record(deviceKey) == nil)
        #expect(try await vault.faults() == [])
    }

    @Test("records of the vault are listed by scope in order")
    func listing() async throws {
        let vault = try await desk.open()
        let second = RecordName(scope: token.scope, name: "certificate")
        for name in [token, deviceKey, second] { try await vault.put(name, "x") }
        #expect(try await vault.scopes() == ["", "gateway.example:8443/"])
        #expect(try await vault.names(scope: token.scope) == [second, token])
        #expect(try await vault.names(scope: "other") == [])
    }

    @Test(
        "records of the vault need a printable name of at most 255 bytes",
        arguments: [
            RecordName(scope: "", name: ""), RecordName(scope: "", name: String(repeating: "n", count: 256)),
            RecordName(scope: "", name: "caf\u{e9}"), RecordName(scope: "a\u{0}b", name: "n"),
            RecordName(scope: String(repeating: "s", count: 1025), name: "n"),
        ])
    func names(name: RecordName) async throws {
        let vault = try await desk.open()
        await #expect(throws: VaultError.nameNotAllowed(name: name, kind: .token)) { try await vault.put(name, "x") }
        await #expect(throws: VaultError.nameNotAllowed(name: name, kind: nil)) {
            try await vault.commit([.remove(name)])
        }
        #expect(try await vault.scopes() == [])
    }

    @Test("records of the vault of the longest name and 1 MiB are kept")
    func longest() async throws {
        let name = RecordName(scope: String(repeating: "s", count: 1024), name: String(repeating: "n", count: 255))
        let content = SecretBytes([UInt8](repeating: 7, count: Change.contentLimit))
        let vault = try await desk.open()
        try await vault.commit([.put(name, .state, content)])
        #expect(try await vault.record(name)?.content == content)
    }

    @Test("records of the vault are bounded in number, and one more changes nothing")
    func number() async throws {
        let vault = try await desk.open()
        let changes = (0...ManifestRoot.recordLimit).map {
            Change.put(RecordName(scope: "", name: "\($0)"), .state, SecretBytes([1]))
        }
        await #expect(throws: VaultError.tooManyRecords(path: desk.path, limit: 4096)) {
            try await vault.commit(changes)
        }
        #expect(try await vault.scopes() == [])
        try await vault.commit(changes.dropLast())
        #expect(try await vault.names(scope: "").count == 4096)
    }

    @Test("records of the vault leave neither content nor key in the clear in any file")
    func sealed() async throws {
        let secret = "the-words-of-the-secret"
        let vault = try await desk.open()
        try await vault.put(token, secret)
        try await vault.put(token, secret + "-2")
        for suffix in ["", "-wal"] { #expect(try desk.bytes(suffix).range(of: Data(secret.utf8)) == nil) }
        await vault.close()
        #expect(try desk.bytes().range(of: Data(secret.utf8)) == nil)
        let rootKey = try await desk.open(with: desk.key).rootKey().exposed()
        #expect(try desk.bytes().range(of: Data(rootKey)) == nil)
        #expect(rootKey.count == 32)
    }
}
