import Board
import Foundation
import Settings
import Testing

@testable import Agent
@testable import AgentCalls
@testable import AgentCore
@testable import AgentNearby

@Suite("Settings beside the machine they are for")
struct MachineComparisonTests {
    /// What is found in a folder with a board definition `there`, with settings changed by `change`.
    private func compare(
        _ change: (inout AgentConfiguration, String) throws -> Void
    ) throws -> (faults: [String], notices: [String], folder: String) {
        try withFolder { folder in
            try "title = \"There\"\n".write(toFile: "\(folder)/there.toml", atomically: true, encoding: .utf8)
            var settings = AgentConfiguration()
            settings.stateDirectory = "\(folder)/state"
            settings.api.socket = "\(folder)/api.sock"
            settings.board.definition = "there"
            settings.board.directories = [folder]
            try change(&settings, folder)
            let comparison = MachineComparison(
                settings, machine: Machine(root: folder), of: Features.all)
            return (
                comparison.faults.map { "\($0.keyPath): \($0.fault)" },
                comparison.notices.map { "\($0.keyPath): \($0.fault)" }, folder
            )
        }
    }

    private func write(_ text: String, _ path: String, mode: Int = 0o600) throws {
        try Data(text.utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    @Test("settings lack nothing on a machine where all they name is there")
    func complete() throws {
        let found = try compare { settings, folder in
            (settings.api.group, settings.api.operate) = ("daemon", ["root", "@daemon"])
            settings.vault.slots = [.passphrase]
            settings.vault.passphraseFile = "\(folder)/passphrase"
            try write("correct horse battery", settings.vault.passphraseFile)
        }
        #expect(found.faults == [])
        #expect(found.notices == [])
    }

    @Test("a comparison of settings names users and groups that the machine does not know")
    func peers() throws {
        let found = try compare { settings, _ in
            settings.api.read = ["root", "no-such-user"]
            settings.api.publish = ["@latchkey", "@no-such-group"]
            settings.api.group = "no-such-group"
            settings.grants = [
                GrantSettings(user: "root"), GrantSettings(user: "no-such-user", group: "no-such-group"),
            ]
        }
        #expect(
            found.faults == [
                "api.read[1]: no-such-user does not exist on this machine",
                "api.publish[1]: @no-such-group does not exist on this machine",
                "api.group: the group no-such-group does not exist on this machine",
                "grants[1].user: no-such-user does not exist on this machine",
                "grants[1].group: @no-such-group does not exist on this machine",
            ])
    }

    @Test("a comparison of settings names a missing board definition; nobody misses one that auto would find")
    func board() throws {
        let named = try compare { settings, _ in settings.board.definition = "nope" }
        #expect(named.faults == ["board.definition: no board definition nope in \(named.folder)"])
        let auto = try compare { settings, _ in settings.board.definition = "auto" }
        #expect(auto.faults == [])
        #expect(auto.notices == ["board.definition: no board definition generic-linux in \(auto.folder)"])
    }

    @Test("a comparison of settings names files that are missing, empty or open to others")
    func files() throws {
        func fault(_ slot: VaultSettings.Slot, _ prepare: (String) throws -> Void) throws -> String? {
            let found = try compare { settings, folder in
                let file = "\(folder)/keys/key"
                settings.vault.slots = [slot]
                (settings.vault.passphraseFile, settings.vault.developmentKeyFile) = (file, file)
                try prepare(file)
            }
            return found.faults.first?.replacingOccurrences(of: found.folder, with: "")
        }
        func makeFolder(_ file: String) throws {
            let folder = URL(filePath: file).deletingLastPathComponent()
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }
        #expect(try fault(.passphrase) { _ in } == "vault.passphrase_file: /keys/key does not exist")
        #expect(try fault(.developmentKeyFile) { _ in } == "vault.development_key_file: /keys does not exist")
        #expect(try fault(.developmentKeyFile, makeFolder) == nil)
        #expect(
            try fault(.passphrase) {
                try makeFolder($0)
                try write("", $0)
            } == "vault.passphrase_file: /keys/key is empty")
        #expect(
            try fault(.passphrase) {
                try makeFolder($0)
                try write("p", $0, mode: 0o640)
            }
                == "vault.passphrase_file: other users may read /keys/key")
        #expect(try fault(.systemdCredential) { _ in } == nil)
    }

    @Test("a comparison of settings names directories that are missing or open, and a socket path too long")
    func directories() throws {
        var found = try compare { settings, folder in
            settings.stateDirectory = "\(folder)/a/state"
            settings.api.socket = "\(folder)/b/api.sock"
        }
        #expect(
            found.faults == [
                "agent.state_directory: \(found.folder)/a does not exist",
                "api.socket: \(found.folder)/b does not exist",
            ])
        found = try compare { settings, folder in
            settings.stateDirectory = "\(folder)/state"
            try FileManager.default.createDirectory(
                atPath: settings.stateDirectory, withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o750])
            settings.api.socket = "/tmp/" + String(repeating: "s", count: 103)
        }
        #expect(
            found.faults == [
                "agent.state_directory: other users may read \(found.folder)/state", "api.socket: has 108 bytes",
            ])
        found = try compare { settings, folder in
            settings[ProxySettings.self].enabled = true
            settings[ProxySettings.self].socket = "\(folder)/c/proxy.sock"
        }
        #expect(found.faults == ["proxy.socket: \(found.folder)/c does not exist"])
        found = try compare { settings, _ in
            settings[ProxySettings.self].enabled = true
            settings[ProxySettings.self].socket = settings.api.socket
        }
        #expect(found.faults == ["proxy.socket: is also api.socket"])
        found = try compare { settings, folder in settings[ProxySettings.self].socket = "\(folder)/c/proxy.sock" }
        #expect(found.faults == [])
        // Made by systemd when the service starts.
        found = try compare { settings, _ in settings.api.socket = "/run/latchkey/api.sock" }
        #expect(found.faults == [])
    }

    @Test("a comparison of settings names a Bluetooth adapter that is not plugged in")
    func adapter() throws {
        let found = try compare { settings, _ in settings.bluetooth.adapter = "hci99" }
        #expect(found.faults == ["bluetooth.adapter: there is no Bluetooth adapter hci99"])
    }
}
