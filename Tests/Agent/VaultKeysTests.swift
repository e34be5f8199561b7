import Cryptography
import Foundation
import Testing
import Vault

@testable import Agent
@testable import AgentCore

@Suite("Keys that open the vault", .timeLimit(.minutes(5)))
struct VaultKeysTests {
    private func settings(_ slot: VaultSettings.Slot, passphraseFile: String = "", keyFile: String = "")
        -> VaultSettings
    {
        var settings = VaultSettings()
        settings.slots = [slot]
        settings.passphraseFile = passphraseFile
        settings.developmentKeyFile = keyFile
        return settings
    }

    private func write(_ text: String, _ path: String, mode: Int = 0o600) throws {
        try Data(text.utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    @Test(
        "a vault key without a credentials directory of systemd is missing by its name",
        arguments: [
            VaultSettings.Slot.systemdCredential, .passphrase,
        ])
    func noDirectory(slot: VaultSettings.Slot) {
        #expect(throws: VaultError.credentialMissing(name: "latchkey-vault", directory: nil)) {
            _ = try settings(slot).key(stateDirectory: "/nowhere", environment: [:])
        }
    }

    @Test("each vault setting gives the kind of key it names")
    func kinds() throws {
        try withFolder { folder in
            try write("secret", folder + "/latchkey-vault")
            let environment = ["CREDENTIALS_DIRECTORY": folder]
            #expect(
                try settings(.systemdCredential).key(stateDirectory: folder, environment: environment).kind
                    == .systemdCredential)
            #expect(try settings(.passphrase).key(stateDirectory: folder, environment: environment).kind == .passphrase)
            #expect(
                try settings(.developmentKeyFile).key(stateDirectory: folder, environment: [:]).kind == .developmentFile
            )
        }
    }

    @Test("several kinds of keys are named in an array, each once, and only kinds that there are")
    func array() throws {
        func configuration(_ slots: String) throws -> AgentConfiguration {
            try AgentConfiguration(toml: "[vault]\nslot = \(slots)\n", path: "test.toml")
        }
        #expect(try configuration("[\"tpm\", \"passphrase\"]").vault.slots == [.tpm, .passphrase])
        for wrong in ["[\"tpm\", \"tpm\"]", "[\"tpm\", \"nail\"]", "[]", "[7]", "[\"\"]"] {
            #expect(throws: ConfigurationError.self, "\(wrong)") { try configuration(wrong) }
        }
    }

    @Test("of several kinds, those keys are given that are there, and why another is not")
    func several() throws {
        try withFolder { folder in
            var several = settings(.passphrase, passphraseFile: folder + "/missing")
            several.slots = [.passphrase, .systemdCredential, .developmentKeyFile]
            let found = several.keys(hardware: several.hardware, stateDirectory: folder, environment: [:])
            #expect(found.keys.map(\.kind) == [.developmentFile])
            guard case AgentError.passphraseUnreadable? = found.fault else {
                Issue.record("\(String(describing: found.fault))")
                return
            }
            several.slots = [.developmentKeyFile, .tpm, .pkcs11]
            let withoutToken = several.keys(hardware: several.hardware, stateDirectory: folder, environment: [:])
            #expect(withoutToken.fault as? VaultError == .keeperMissing(.pkcs11))
            several.slots = [.developmentKeyFile, .tpm]
            let all = several.keys(hardware: several.hardware, stateDirectory: folder, environment: [:])
            #expect(all.keys.map(\.kind) == [.developmentFile, .tpm] && all.fault == nil)
        }
    }

    @Test("a line feed at the end of the file is no part of the passphrase, a second one and a blank are")
    func lineFeed() async throws {
        try await withFolder { folder in
            try write("correct horse battery\n", folder + "/with")
            try write("correct horse battery", folder + "/without")
            try write("correct horse battery \n", folder + "/blank")
            let key = try settings(.passphrase, passphraseFile: folder + "/with").key(
                stateDirectory: folder, environment: [:])
            let vault = try await Vault.open(at: folder + "/vault.db", with: [key], creating: true)
            await vault.close()

            let same = try settings(.passphrase, passphraseFile: folder + "/without").key(
                stateDirectory: folder, environment: [:])
            let again = try await Vault.open(at: folder + "/vault.db", with: [same], creating: false)
            await again.close()

            let other = try settings(.passphrase, passphraseFile: folder + "/blank").key(
                stateDirectory: folder, environment: [:])
            await #expect(throws: VaultError.self) {
                _ = try await Vault.open(at: folder + "/vault.db", with: [other], creating: false)
            }
        }
    }

    @Test("a passphrase that is missing, empty, too long or readable by others is refused, and never told")
    func refused() throws {
        try withFolder { folder in
            let path = folder + "/passphrase"
            func reason() -> String? {
                do {
                    _ = try settings(.passphrase, passphraseFile: path).key(stateDirectory: folder, environment: [:])
                    return nil
                } catch AgentError.passphraseUnreadable(path, let reason) {
                    return reason
                } catch {
                    return "\(error)"
                }
            }
            #expect(reason() == "No such file or directory")
            try write("", path)
            #expect(reason() == "it is empty")
            try write("\n", path)
            #expect(reason() == "it is empty")
            try write(String(repeating: "p", count: 4097), path)
            #expect(reason() == "it has more than 4096 bytes")
            try write("hunter2", path, mode: 0o640)
            #expect(reason() == "other users may read it (its mode is not 0600)")
            try write("hunter2", path)
            #expect(reason() == nil)
        }
    }

    @Test("the development key lies in the state directory unless the settings say where")
    func developmentKey() async throws {
        try await withFolder { folder in
            for (file, place) in [("", folder + "/vault.key"), (folder + "/elsewhere", folder + "/elsewhere")] {
                let key = try settings(.developmentKeyFile, keyFile: file).key(stateDirectory: folder, environment: [:])
                let vault = try await Vault.open(at: "\(place).db", with: [key], creating: true)
                await vault.close()
                #expect(FileManager.default.fileExists(atPath: place))
            }
        }
    }
}

extension VaultSettings {
    /// The key of the only slot.
    fileprivate func key(stateDirectory: String, environment: [String: String]) throws -> any SlotKey {
        try key(of: slots[0], hardware: hardware, stateDirectory: stateDirectory, environment: environment)
    }

    fileprivate var hardware: KeyHardware {
        var configuration = AgentConfiguration()
        configuration.vault = self
        return KeyHardware(configuration, environment: [:])
    }
}
