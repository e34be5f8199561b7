import Cryptography
import Foundation
import Groundwork
import Synchronization
import TestSupport
import Testing

@_spi(KeyBytes) @testable import Vault

@Suite("Export of a vault")
struct ExportTests {
    let desk = try! Desk()  // Without a temporary directory there is nothing to test.

    /// A vault with records of several sizes, and a key.
    private func filled() async throws -> Vault {
        let vault = try await desk.open()
        try await vault.commit([
            .put(token, .token, SecretBytes(utf8: "a token")), .put(deviceKey, .state, SecretBytes([])),
            .put(RecordName(scope: "large", name: "a"), .configuration, try SecretBytes.random(1 << 20)),
            .put(RecordName(scope: "large", name: "b"), .state, try SecretBytes.random(70_000)),
        ])
        try await vault.commit((0..<150).map { .put(PageTests.name($0), .token, SecretBytes(utf8: "\($0)")) })
        _ = try await vault.keys(of: token.scope).make(.p256, label: "device")
        return vault
    }

    @Test("an export restores every record with its kind and content, and the keys")
    func roundTrip() async throws {
        let vault = try await filled()
        let exported = try await desk.export(vault)
        #expect(exported == Vault.Exported(records: 155))
        #expect(try desk.mode(desk.exportPath) == 0o600)

        let other = try Desk()
        let restored = try await other.open()
        let done = try await restored.restore(from: desk.exportPath, passphrase: Desk.passphrase) { _ in false }
        #expect(done == Vault.Restored(records: 155, keys: 1))
        #expect(try await restored.contents() == vault.contents())
        #expect(try await restored.record(deviceKey)?.kind == .state)
        let references = try await restored.keys(of: token.scope).references()
        #expect(references.count == 1)
        for reference in references {
            let key = try await restored.keys(of: token.scope).key(reference)
            #expect(try await key?.publicKey == vault.keys(of: token.scope).key(reference)?.publicKey)
        }
        #expect(try await restored.faults() == [])
        await restored.close()
        let again = try await other.open(creating: false)
        #expect(try await again.contents() == vault.contents())
    }

    @Test("an export of an empty vault restores nothing")
    func empty() async throws {
        #expect(try await desk.export(desk.open()) == Vault.Exported())
        let other = try Desk()
        #expect(try await other.restored(from: desk.exportPath).scopes() == [])
    }

    @Test("a reader in Python, which has only the format in common, reads the same names, kinds and contents")
    func python() async throws {
        let vault = try await filled()
        _ = try await desk.export(vault)
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "read_export.py").path
        let program = Program(url: URL(filePath: "/usr/bin/python3"))
        let result = try await program.run(
            ["-B", script, desk.exportPath], input: Desk.passphrase.exposedText())
        #expect(result.status == 0, "\(result.errors)")
        struct Line: Decodable, Hashable {
            let scope, name, kind, content: String
        }
        let lines = try result.output.split(separator: "\n").map {
            try JSONDecoder().decode(Line.self, from: Data($0.utf8))
        }
        var expected: [Line] = []
        for scope in try await vault.scopes() {
            for name in try await vault.names(scope: scope) {
                let record = try #require(await vault.exposedRecord(name))
                expected.append(
                    Line(
                        scope: scope, name: name.name, kind: record.kind.rawValue,
                        content: Hex.encode(record.content.exposed())))
            }
        }
        #expect(lines == expected)

        let wrong = try await program.run(["-B", script, desk.exportPath], input: "another passphrase of mine")
        #expect(wrong.status != 0 && wrong.errors.contains("wrong passphrase"))
    }

    @Test("an export costs 64 MiB of memory a guess, and its passphrase has at least sixteen bytes")
    func cost() async throws {
        let vault = try await desk.open()
        _ = try await vault.export(
            to: desk.exportPath, passphrase: Desk.passphrase, withIdentity: true, identity: { _, _, _ in false })
        var bytes = try desk.exportBytes()[...]
        let header = try ExportHeader(from: { bytes.take($0) }, of: "export")
        let cost = Passphrase.Parameters(decoding: header.parameters)?.cost
        #expect(cost == ScryptCost(n: 65_536, r: 8, p: 1))
        await #expect(throws: VaultError.passphraseShort(bytes: 5, least: 16)) {
            try await vault.export(
                to: desk.directory + "/short", passphrase: SecretBytes(utf8: "short"), withIdentity: true,
                identity: { _, _, _ in false })
        }
        #expect(try !desk.files().contains("short"))
    }

    @Test("an export contains neither a name nor a content in plain text, and no two have bytes in common")
    func sealed() async throws {
        let vault = try await desk.open()
        try await vault.put(token, "a secret that is to be seen nowhere")
        _ = try await desk.export(vault)
        _ = try await desk.export(vault, to: desk.directory + "/second")
        let bytes = Data(try desk.exportBytes())
        for text in ["a secret that", token.scope, "token"] { #expect(bytes.range(of: Data(text.utf8)) == nil) }
        let second = try Data(contentsOf: URL(filePath: desk.directory + "/second"))
        #expect(second.count == bytes.count)
        #expect(second.suffix(40) != bytes.suffix(40))
    }

    // MARK: What stays out

    private static let hardware = RecordName(scope: "chip", name: "tpm:device-1")
    private static let terms = RecordName(scope: "chip", name: "terms")

    /// A vault with a software key, a key in hardware, and records that belong to each.
    private func withKeys() async throws -> (vault: Vault, software: RecordName) {
        let vault = try await desk.open()
        let made = try await vault.keys(of: token.scope).make(.p256, label: "device")
        try await vault.write([.put(Self.hardware, .privateKey, SecretBytes(utf8: "a blob of the chip"))])
        try await vault.put(token, "a token")
        try await vault.put(Self.terms, "terms")
        try await vault.put(RecordName(scope: "chip", name: "item"), "an item")
        try await vault.put(RecordName(scope: "", name: "account"), "an account")
        return (vault, made.reference.record(in: token.scope))
    }

    private static let rule: Vault.IdentityRule = { name, _, keyScopes in
        name == token || name == terms || name.name == "account" && keyScopes == [token.scope, "chip"]
    }

    @Test("an export without the identity has no private key, and no record to which the rule applies")
    func withoutIdentity() async throws {
        let (vault, software) = try await withKeys()
        let exported = try await desk.export(vault, withIdentity: false, identity: Self.rule)
        #expect(exported.records == 1)
        #expect(
            Set(exported.leftOut)
                == [Self.hardware, Self.terms, token, software, RecordName(scope: "", name: "account")])
        let other = try Desk()
        let restored = try await other.restored(from: desk.exportPath)
        #expect(try await restored.scopes() == ["chip"])
        #expect(try await restored.text(RecordName(scope: "chip", name: "item")) == "an item")
    }

    @Test("an export with the identity has no key in hardware, nor what only that key makes useful")
    func withIdentity() async throws {
        let (vault, software) = try await withKeys()
        let exported = try await desk.export(vault, withIdentity: true, identity: Self.rule)
        #expect(Set(exported.leftOut) == [Self.hardware, Self.terms])
        let other = try Desk()
        let restored = try await other.restored(from: desk.exportPath)
        let names = Set(try await restored.contents().keys)
        #expect(
            names == [
                token, software, RecordName(scope: "chip", name: "item"), RecordName(scope: "", name: "account"),
            ])
    }

    @Test("a record that cannot be read is named, and holds up no other")
    func damaged() async throws {
        let vault = try await desk.open()
        try await vault.commit((0..<100).map { .put(PageTests.name($0), .token, SecretBytes(utf8: "\($0)")) })
        try desk.tamper("UPDATE record SET sealed = zeroblob(40) WHERE name LIKE '%-10007'")
        #expect(try await desk.export(vault) == Vault.Exported(records: 99, damaged: [PageTests.name(7)]))
    }

    // MARK: The file

    @Test("an export replaces no file and follows no link, and leaves both as they are")
    func existing() async throws {
        let vault = try await desk.open()
        try desk.write(Data("mine".utf8), to: desk.exportPath)
        let link = desk.directory + "/link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: desk.directory + "/target")
        for path in [desk.exportPath, link, desk.directory] {
            await #expect(throws: VaultError.export(.exists(path: path))) { try await desk.export(vault, to: path) }
        }
        #expect(try desk.exportBytes() == Array("mine".utf8))
        #expect(try desk.files() == ["export", "link", "vault.db", "vault.db-shm", "vault.db-wal", "vault.key"])
    }

    @Test("an export that fails leaves no file")
    func failed() async throws {
        let vault = try await filled()
        let nowhere = desk.directory + "/nowhere/export"
        await #expect(
            throws: VaultError.export(.unwritable(path: nowhere, reason: "No such file or directory"))
        ) { try await desk.export(vault, to: nowhere) }
        try desk.tamper("UPDATE page SET sealed = zeroblob(100) WHERE id = 1")
        await #expect(throws: VaultError.manifestDamaged(path: desk.path)) { try await desk.export(vault) }
        await vault.lock()
        await #expect(throws: VaultError.locked(path: desk.path)) { try await desk.export(vault) }
        #expect(try !desk.files().contains("export"))
    }

    @Test("an export that is canceled leaves no file")
    func canceled() async throws {
        let vault = try await desk.open()
        try await vault.commit((0..<500).map { .put(PageTests.name($0), .token, SecretBytes(utf8: "\($0)")) })
        let task = Task { () async throws -> Vault.Exported in
            withUnsafeCurrentTask { $0?.cancel() }
            return try await desk.export(vault)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try !desk.files().contains("export"))
    }

    @Test("an export has at most 64 MiB of content")
    func tooLarge() throws {
        let writer = try ExportWriter(creating: desk.exportPath)
        try writer.begin(
            SecretBytes([UInt8](repeating: 1, count: 32)),
            Passphrase.Parameters(cost: lightCost, salt: [UInt8](repeating: 0, count: 16)).encoded())
        let content = SecretBytes([UInt8](repeating: 0, count: 1 << 20))
        for number in 0..<63 { try writer.append(PageTests.name(number), .state, content) }
        #expect(throws: ExportError.tooLarge(path: desk.exportPath, limit: 64 << 20)) {
            try writer.append(PageTests.name(63), .state, content)
        }
        writer.discard()
        #expect(try desk.files() == [])
    }

    @Test("commits come through while a vault is exported, and the export has one state of the vault")
    func oneState() async throws {
        let vault = try await desk.open()
        try await vault.commit((0..<500).map { .put(PageTests.name($0), .token, SecretBytes(utf8: "0")) })
        let isOver = Mutex(false)
        async let commits = {
            var count = 0
            while !isOver.withLock({ $0 }) {
                count += 1
                // The first record and the last one, at once.
                try await vault.commit(
                    [0, 499].map { .put(PageTests.name($0), .token, SecretBytes(utf8: "\(count)")) })
            }
            return count
        }()
        let exported = try await desk.export(vault)
        isOver.withLock { $0 = true }
        #expect(try await commits > 3)
        #expect(exported.records == 500)
        let other = try Desk()
        let restored = try await other.restored(from: desk.exportPath)
        let first = try await restored.text(PageTests.name(0))
        #expect(try await restored.text(PageTests.name(499)) == first)
        #expect(try await vault.faults() == [])
    }
}
