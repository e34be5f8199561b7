import Cryptography
import Foundation
import Storage
import Synchronization
import Testing

@testable import Vault

@Suite("Keys of the vault's slots")
struct SlotKeyTests {
    let desk = try! Desk()  // Without a temporary directory there is nothing to test.

    @Test("a development key file is made once, with random bytes, and kept")
    func developmentFile() async throws {
        try await desk.fill((token, "a"))
        let key = try Data(contentsOf: URL(fileURLWithPath: desk.keyPath))
        #expect(key.count == 32 && Set(key).count > 8)
        let vault = try await desk.open()
        try await vault.add(desk.key)
        #expect(try Data(contentsOf: URL(fileURLWithPath: desk.keyPath)) == key)
    }

    @Test("a development key file has its name only when whole, and a crash's draft is made anew")
    func draft() async throws {
        try desk.write(Data([1, 2, 3]), to: desk.keyPath + ".new")
        try await desk.fill((token, "a"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: desk.keyPath)).count == 32)
        #expect(!FileManager.default.fileExists(atPath: desk.keyPath + ".new"))
    }

    @Test("a development key file that is missing is not made for a vault that is there")
    func missing() async throws {
        try await desk.fill((token, "a"))
        try FileManager.default.removeItem(atPath: desk.keyPath)
        await #expect(throws: VaultError.keyFileMissing(path: desk.keyPath)) { try await desk.open() }
        #expect(try desk.files() == ["vault.db"])
    }

    @Test("a development key file that others may read or write is refused", arguments: [0o640, 0o604, 0o620, 0o666])
    func tooOpen(mode: Int) async throws {
        try await desk.fill((token, "a"))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: desk.keyPath)
        await #expect(throws: VaultError.permissionsTooOpen(path: desk.keyPath, mode: UInt32(mode))) {
            try await desk.open()
        }
    }

    @Test(
        "a development key file of another user is refused", .enabled(if: geteuid() == 0, "only root gives files away"))
    func ofOther() async throws {
        try await desk.fill((token, "a"))
        #expect(chown(desk.keyPath, 65534, 65534) == 0)
        await #expect(throws: VaultError.keyFileOfOther(path: desk.keyPath, owner: 65534)) { try await desk.open() }
    }

    @Test("a wrong development key file opens nothing")
    func wrong() async throws {
        try await desk.fill((token, "a"))
        try desk.write(Data(repeating: 1, count: 32), to: desk.keyPath)
        await #expect(throws: VaultError.noSlotOpens(path: desk.path, tried: [.developmentFile])) {
            try await desk.open()
        }
    }

    @Test("a key file too short for a secret, or too long for a key, is refused", arguments: [0, 15, 4097])
    func length(count: Int) async throws {
        try desk.write(Data(repeating: 1, count: count), to: desk.keyPath)
        await #expect(throws: VaultError.keyLength(path: desk.keyPath, bytes: count, least: 16, most: 4096)) {
            try await desk.open()
        }
        #expect(try desk.files() == ["vault.key"])
    }

    @Test("a pipe or a directory in a key file's place neither opens nor holds the start", .timeLimit(.minutes(5)))
    func notAFile() async throws {
        #expect(mkfifo(desk.keyPath, 0o600) == 0)
        await #expect(throws: VaultError.keyUnreadable(path: desk.keyPath, reason: "not a regular file")) {
            try await desk.open()
        }
    }

    @Test("a key file that cannot be made leaves no vault")
    func unwritable() async throws {
        let path = desk.directory + "/none/key"
        await #expect(throws: VaultError.keyUnwritable(path: path, reason: "No such file or directory")) {
            try await desk.open(with: DevelopmentKeyFile(path), creating: true)
        }
        #expect(try desk.files() == [])
    }

    @Test(
        "a systemd credential that is missing names itself and where it was sought",
        arguments: ["vault-key", "../vault-key", ""])
    func credential(name: String) async throws {
        try desk.write(Data(repeating: 1, count: 32), to: desk.directory + "/vault-key")
        for directory in [nil, desk.directory + "/sub"] {
            await #expect(throws: VaultError.credentialMissing(name: name, directory: directory)) {
                try await desk.open(with: SystemdCredential(name: name, directory: directory), creating: true)
            }
        }
    }

    @Test("a systemd credential is sought where systemd says")
    func credentialDirectory() async {
        // In a process of its own, since the environment belongs to all tests.
        await #expect(processExitsWith: .success) {
            setenv("CREDENTIALS_DIRECTORY", "/run/credentials/latchkey.service", 1)
            #expect(SystemdCredential(name: "vault-key").directory == "/run/credentials/latchkey.service")
            unsetenv("CREDENTIALS_DIRECTORY")
            #expect(SystemdCredential(name: "vault-key").directory == nil)
        }
    }

    @Test("an empty passphrase is refused")
    func empty() async throws {
        await #expect(throws: VaultError.passphraseEmpty) {
            try await desk.open(with: Passphrase(SecretBytes([])), creating: true)
        }
    }

    /// Makes slots as they were once made: with passphrases of any length.
    private struct FormerPassphrase: SlotKey {
        let kind = Slot.Kind.passphrase
        let secret: SecretBytes

        func makeWrappingKey() async throws(VaultError) -> (key: SecretBytes, parameters: [UInt8]) {
            let parameters = Passphrase.Parameters(cost: lightCost, salt: [UInt8](repeating: 7, count: 16)).encoded()
            return (try await wrappingKey(from: parameters), parameters)
        }

        func wrappingKey(from parameters: [UInt8]) async throws(VaultError) -> SecretBytes {
            try await Passphrase(secret, cost: lightCost).wrappingKey(from: parameters)
        }
    }

    @Test("a passphrase of less than 16 bytes makes no slot, and opens the one that was once made with it")
    func short() async throws {
        let secret = SecretBytes(utf8: "fifteen letters")
        let passphrase = Passphrase(secret, cost: lightCost)
        let refusal = VaultError.passphraseShort(bytes: 15, least: 16)
        await #expect(throws: refusal) { try await desk.open(with: passphrase, creating: true) }
        #expect(try desk.files() == [])

        await (try desk.open(with: FormerPassphrase(secret: secret), creating: true)).close()
        let vault = try await desk.open(with: passphrase)
        await #expect(throws: refusal) { try await vault.add(passphrase) }
        await #expect(throws: refusal) { try await vault.rewrap(slot: 1, with: passphrase) }
        try await vault.rewrap(slot: 1, with: Passphrase(SecretBytes(utf8: "sixteen letters!"), cost: lightCost))
    }

    @Test("the content of a credential makes the slot that the credential opens later")
    func given() async throws {
        try await desk.fill((token, "a"))
        let vault = try await desk.open()
        for count in [15, 4097] {
            await #expect(throws: VaultError.credentialLength(bytes: count, least: 16, most: 4096)) {
                try await vault.add(GivenCredential(SecretBytes([UInt8](repeating: 1, count: count))))
            }
        }
        try await vault.rewrap(slot: 1, with: GivenCredential(SecretBytes([UInt8](repeating: 1, count: 16))))
        await vault.close()
        try desk.write(Data(repeating: 1, count: 16), to: desk.directory + "/vault-key")
        let opened = try await desk.open(with: SystemdCredential(name: "vault-key", directory: desk.directory))
        #expect(try await opened.text(token) == "a")
    }

    @Test("a passphrase with the usual cost opens again")
    func usualCost() async throws {
        let passphrase = Passphrase(SecretBytes(utf8: "correct horse battery"))
        await (try desk.open(with: passphrase, creating: true)).close()
        await (try desk.open(with: passphrase)).close()
    }

    @Test(
        "a vault slot that asks scrypt for too much, or for nonsense, is refused at once", .timeLimit(.minutes(5)),
        arguments: [
            ScryptCost(n: 1 << 23, r: 8, p: 1), ScryptCost(n: 1 << 15, r: 32, p: 1), ScryptCost(n: 1 << 15, r: 8, p: 5),
            ScryptCost(n: 1 << 15, r: .max, p: 1), ScryptCost(n: 3, r: 8, p: 1), ScryptCost(n: 0, r: 8, p: 1),
            ScryptCost(n: 1 << 10, r: 0, p: 1), ScryptCost(n: 1 << 10, r: 8, p: -1),
        ])
    func hostileCost(cost: ScryptCost) async throws {
        let passphrase = Passphrase(SecretBytes(utf8: "correct horse battery"), cost: lightCost)
        await (try desk.open(with: passphrase, creating: true)).close()
        let parameters = Passphrase.Parameters(cost: cost, salt: [UInt8](repeating: 1, count: 16)).encoded()
        let wrapped = try desk.column("SELECT wrapped FROM slot")
        let digest = StoredSlot.digest(kind: .passphrase, parameters: parameters, wrapped: wrapped)
        try desk.tamper("UPDATE slot SET parameters = ?1, digest = ?2", .blob(parameters), .blob(digest))
        await #expect(throws: VaultError.slotParametersRefused(kind: .passphrase)) {
            try await desk.open(with: passphrase)
        }
    }

    @Test("a passphrase is not derived with a cost beyond the limit either")
    func costOfOurs() async throws {
        let passphrase = Passphrase(
            SecretBytes(utf8: "correct horse battery"), cost: ScryptCost(n: 1 << 20, r: 8, p: 1))
        await #expect(throws: VaultError.slotParametersRefused(kind: .passphrase)) {
            try await desk.open(with: passphrase, creating: true)
        }
    }

    @Test("keys are derived on their own thread, never on the storage thread or the cooperative pool")
    func thread() async throws {
        let probe = ThreadProbe()
        let vault = try await desk.open(with: probe, creating: true)
        try await vault.rewrap(slot: try await vault.add(probe).id, with: probe)
        await vault.close()
        #expect(probe.names.withLock { $0 } == ["keys"])
    }
}
