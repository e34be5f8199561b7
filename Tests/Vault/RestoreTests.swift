import Cryptography
import Foundation
import Storage
import TestSupport
import Testing

@testable import Vault

@Suite("Restoring an export")
struct RestoreTests {
    let desk = try! Desk()  // Without a temporary directory there is nothing to test.
    private static let serial = RecordName(scope: "", name: "board-serial-number")

    private func exported() async throws {
        let vault = try await desk.open()
        try await vault.put(Self.serial, "their board")
        try await vault.put(token, "a token")
        _ = try await desk.export(vault)
    }

    private func generation(_ vault: Vault) async throws -> Int64? {
        let file = try VaultFile(at: vault.path)
        defer { file.database.close() }
        return try file.claimedGeneration()
    }

    @Test("the board's own records stay as they are, and are not taken from an export")
    func boardsOwn() async throws {
        try await exported()
        let other = try Desk()
        let vault = try await other.open()
        try await vault.put(Self.serial, "this board")
        let done = try await vault.restore(from: desk.exportPath, passphrase: Desk.passphrase) { $0 == Self.serial }
        #expect(done == Vault.Restored(records: 1, leftOut: [Self.serial]))
        #expect(try await vault.text(Self.serial) == "this board")
        #expect(try await vault.text(token) == "a token")
    }

    @Test("a vault that has a record of an account is not restored into, and stays as it is")
    func inUse() async throws {
        try await exported()
        let other = try Desk()
        let vault = try await other.open()
        try await vault.put(Self.serial, "this board")
        try await vault.put(RecordName(scope: "account/a", name: "server"), "mine")
        let before = try await vault.contents()
        await #expect(
            throws: VaultError.export(.vaultInUse(name: RecordName(scope: "account/a", name: "server")))
        ) {
            try await vault.restore(from: desk.exportPath, passphrase: Desk.passphrase) { $0 == Self.serial }
        }
        #expect(try await vault.contents() == before)
    }

    @Test("a record that is written while the key of an export is derived ends the restoring, and stays")
    func writtenMeanwhile() async throws {
        try await exported()
        let (other, slow) = (try Desk(), try Desk())
        let vault = try await other.open()
        try await vault.put(Self.serial, "this board")
        // Holds the thread on which keys are derived.
        let key = HeldKey(free: 1)
        let opened = Task { try await slow.open(with: key, creating: true) }
        await key.isHeld.pass()
        let isChecked = Gate()
        let restored = Task {
            try await vault.restore(from: desk.exportPath, passphrase: Desk.passphrase) { name in
                isChecked.open()
                return name == Self.serial
            }
        }
        await isChecked.pass()
        try await vault.put(token, "mine")
        key.letGo()
        await #expect(throws: VaultError.export(.vaultInUse(name: token))) { try await restored.value }
        #expect(try await vault.text(token) == "mine")
        await (try opened.value).close()
    }

    @Test("an export that cannot be read to its end is not even begun to be written, however late it fails")
    func unchanged() async throws {
        let source = try await desk.open()
        let large = try SecretBytes.random(1_000_000)
        try await source.commit(["a", "b"].map { .put(RecordName(scope: "", name: $0), .state, large) })
        _ = try await desk.export(source)
        let bytes = try desk.exportBytes()
        var flipped = bytes
        flipped[bytes.count - 1] ^= 1
        let path = desk.exportPath
        let other = try Desk()
        let vault = try await other.open()
        let before = try await (generation(vault), other.bytes("-wal"))
        for (changed, error) in [
            (flipped, ExportError.damaged(path: path)), (bytes.dropLast(), .cutShort(path: path)),
            (bytes + [0], .trailingBytes(path: path)),
        ] {
            try desk.writeExport(changed)
            await #expect(throws: VaultError.export(error)) {
                try await vault.restore(from: path, passphrase: Desk.passphrase) { _ in false }
            }
        }
        try desk.writeExport(bytes)
        await #expect(throws: VaultError.export(.wrongPassphrase(path: path))) {
            try await vault.restore(from: path, passphrase: SecretBytes(utf8: "another passphrase")) { _ in false }
        }
        await #expect(throws: VaultError.passphraseEmpty) {
            try await vault.restore(from: path, passphrase: SecretBytes([])) { _ in false }
        }
        #expect(try await vault.scopes() == [])
        #expect(try await generation(vault) == before.0)
        // Not even a transaction was begun: its pages would be in the log.
        #expect(try other.bytes("-wal") == before.1)
    }

    @Test("an error in the middle of the commit leaves nothing of it")
    func rolledBack() async throws {
        let vault = try await desk.open()
        try await vault.put(Self.serial, "this board")
        let before = try await (vault.contents(), generation(vault))
        var names = (0..<100).map { PageTests.name($0) }.makeIterator()
        await #expect(throws: VaultError.export(.damaged(path: "export"))) {
            try await vault.failHalfway { names.next() }
        }
        #expect(try await vault.contents() == before.0)
        #expect(try await generation(vault) == before.1)
        #expect(try await vault.faults() == [])
    }

    @Test("only a regular file is read, and no link to one")
    func notAFile() async throws {
        try await exported()
        let other = try Desk()
        let vault = try await other.open()
        let link = desk.directory + "/link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: desk.exportPath)
        let (pipe, missing) = (desk.directory + "/pipe", desk.directory + "/missing")
        #expect(mkfifo(pipe, 0o600) == 0)
        for path in [link, pipe, desk.directory, missing] {
            let reason = path == missing ? "No such file or directory" : "it is not a regular file"
            await #expect(throws: VaultError.export(.unreadable(path: path, reason: reason))) {
                try await vault.restore(from: path, passphrase: Desk.passphrase) { _ in false }
            }
        }
    }

    @Test("a file that is larger than any export is refused before it is read")
    func hugeFile() async throws {
        try desk.writeExport([])
        #expect(truncate(desk.exportPath, 1 << 40) == 0)
        let vault = try await desk.open()
        await #expect(throws: VaultError.export(.tooLarge(path: desk.exportPath, limit: 64 << 20))) {
            try await vault.restore(from: desk.exportPath, passphrase: Desk.passphrase) { _ in false }
        }
    }

    @Test("a locked vault neither exports nor restores")
    func locked() async throws {
        try await exported()
        let vault = try await desk.open()
        await vault.lock()
        await #expect(throws: VaultError.locked(path: desk.path)) {
            try await vault.restore(from: desk.exportPath, passphrase: Desk.passphrase) { _ in false }
        }
        await #expect(throws: VaultError.locked(path: desk.path)) { try await vault.verify() }
    }
}

extension Vault {
    /// Makes a commit whose source fails after its last name.
    fileprivate func failHalfway(_ next: () -> RecordName?) throws {
        try write {
            guard let name = next() else { throw ExportError.damaged(path: "export") }
            return .put(name, .token, SecretBytes(utf8: "halfway"))
        }
    }
}
