import Foundation
import Glibc
import Groundwork
import Settings
import TestSupport
import Testing

@testable import Agent
@testable import AgentCore
@testable import AgentMessages
@testable import AgentSettingsFiles

@Suite("The settings file, shown and changed")
struct SettingsFileTests {
    private func withFile<Result>(_ text: String?, _ body: (SettingsFile, String) throws -> Result) throws -> Result {
        try withFolder { folder in
            let path = folder + "/latchkey.toml"
            try text?.write(toFile: path, atomically: true, encoding: .utf8)
            return try body(SettingsFile(path, of: Features.all), path)
        }
    }

    private func set(_ file: SettingsFile, _ keyPath: String, _ words: String...) throws -> SettingsFile.Change {
        try file.set(keyPath, to: words, comparingMachine: false)
    }

    @Test("a survey of no settings file has every documented key, with its documented default")
    func survey() throws {
        func survey(_ text: String) throws -> [SurveyedSetting] {
            let members = try SettingsDocument.parse(text)
            return try AgentConfiguration.survey(
                SettingsLayers(main: .init(path: "test.toml", members: members)), of: Features.all)
        }
        let preset = try survey("")
        let tables = ["hosts", "brokers", "inbox", "actions", "grants"]
        let keys = preset.map(\.keyPath).filter { !tables.contains($0) }
        let documented = try ConfigurationTests.documentedKeys()
        #expect(keys.sorted() == documented.sorted())
        #expect(Set(preset.map(\.keyPath)).count == preset.count)
        #expect(preset.allSatisfy { $0.files.isEmpty && $0.value == $0.preset })

        let text = try String(contentsOf: ConfigurationTests.documented, encoding: .utf8)
        let written = try survey(text)
        let members = try SettingsDocument.parse(text)
        for setting in written where !tables.contains(setting.keyPath) {
            let parts = setting.keyPath.split(separator: ".").map(String.init)
            #expect(setting.files == ["test.toml"] && setting.value == setting.preset, "\(setting)")
            #expect(members[parts[0]]?[parts[1]]?.number ?? 0 == setting.value.number ?? 0, "\(setting)")
            #expect(members[parts[0]]?[parts[1]]?.string == setting.value.string, "\(setting)")
        }
    }

    @Test(
        "a value of each key can be set, and is refused where the reader refuses it",
        arguments: ConfigurationTests.examples)
    func each(example: (key: String, wrong: String, other: String)) throws {
        let text = try String(contentsOf: ConfigurationTests.documented, encoding: .utf8)
        try withFile(text) { file, path in
            let words = { (literal: String) -> [String] in
                let value = try SettingsDocument.parse("v = \(literal)\n")["v"]
                return value?.string.map { [$0] } ?? [literal]
            }
            // A word for a text is a text, and one for an array an element, whatever it looks like.
            let preset = try file.setting(example.key).preset
            let isWord = preset.string != nil ? !example.wrong.hasPrefix("\"") : preset.array != nil
            if !isWord || example.wrong == "[1]" {
                #expect(throws: SettingsEditError.self) {
                    try file.set(example.key, to: words(example.wrong), comparingMachine: false)
                }
            }
            #expect(!FileManager.default.fileExists(atPath: file.changes))
            // It is one of two that belong together.
            guard example.key != "location.source" || example.other != "\"fixed\"" else { return }
            let change = try file.set(example.key, to: words(example.other), comparingMachine: false)
            #expect(change.isWritten && change.value != change.former)
            #expect(try file.setting(example.key).value == change.value)
            #expect(try file.setting(example.key).files == [path, file.changes])
            #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
            #expect(try file.set(example.key, to: nil, comparingMachine: false).value == change.former)
            #expect(try file.unset(example.key, comparingMachine: false).value == change.former)
            #expect(try file.setting(example.key).files == [path])
        }
    }

    /// What the drop-in with the changes holds below its heading.
    private func changes(_ file: SettingsFile) throws -> String {
        let lines = try String(contentsOfFile: file.changes, encoding: .utf8).split(
            separator: "\n", omittingEmptySubsequences: false)
        return lines.drop { $0.hasPrefix("#") }.dropFirst().joined(separator: "\n")
    }

    @Test("a change of settings has the mode of the settings file, then its own, and leaves nothing beside it")
    func mode() throws {
        try withFile("[broker]\nport = 1\n") { file, path in
            func mode() throws -> Int? {
                try FileManager.default.attributesOfItem(atPath: file.changes)[.posixPermissions] as? Int
            }
            #expect(chmod(path, 0o640) == 0)
            let first = try set(file, "broker.port", "2")
            #expect(first.former == 1)
            #expect(try mode() == 0o640)
            #expect(chmod(file.changes, 0o600) == 0)
            #expect(try set(file, "broker.port", "3").former == 2)
            #expect(try mode() == 0o600)
            #expect(try changes(file) == "[broker]\nport = 3\n")
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "[broker]\nport = 1\n")
            #expect(try FileManager.default.contentsOfDirectory(atPath: file.changes.parentDirectory).count == 1)
            // What is so already is not written again.
            #expect(try set(file, "broker.port", "3").isWritten == false)
        }
    }

    @Test("a draft of the settings that a killed command has left is not read, and is replaced")
    func draft() throws {
        try withFile("") { file, path in
            _ = try set(file, "broker.port", "1")
            for name in [".new", ".lock"] {
                try Data("[broker]\nport = ".utf8).write(to: URL(filePath: file.changes + name))
            }
            #expect(try file.setting("broker.port").value == 1)
            #expect(try AgentConfiguration.load(path: path).broker.port == 1)
            #expect(try set(file, "broker.port", "2").isWritten)
            #expect(try changes(file) == "[broker]\nport = 2\n")
            #expect(try FileManager.default.contentsOfDirectory(atPath: file.changes.parentDirectory).count == 1)
        }
    }

    @Test("a setting of a later drop-in cannot be changed before it, and one of another file is not taken out")
    func otherFiles() throws {
        try withFile("[broker]\nhost = \"a\"\n[[actions]]\nname = \"lamp\"\nfilter = \"f\"\ncommand = [\"/b\"]\n") {
            file, path in
            _ = try set(file, "broker.window", "7")
            let (image, site) = (
                file.changes.parentDirectory + "/10-image.toml", file.changes.parentDirectory + "/90-site.toml"
            )
            try "[broker]\nport = 1\n".write(toFile: image, atomically: true, encoding: .utf8)
            try "[broker]\nuser_name = \"u\"\n".write(toFile: site, atomically: true, encoding: .utf8)
            #expect(try set(file, "broker.port", "2").former == 1)
            #expect(try file.setting("broker.port").files == [image, file.changes])
            #expect(
                throws: SettingsEditError.overridden(keyPath: "broker.user_name", by: site, changes: file.changes)
            ) { try set(file, "broker.user_name", "v") }
            #expect(try set(file, "broker.user_name", "u").isWritten == false)
            #expect(
                throws: SettingsEditError.notWritten(keyPath: "broker.host", path: file.changes, others: [path])
            ) { try file.unset("broker.host", comparingMachine: false) }
            #expect(try file.unset("broker.port", comparingMachine: false).value == 1)

            // A table of another file is changed by its name, and that change can be undone.
            #expect(try set(file, "actions.lamp.retries", "5").former == .null)
            #expect(try changes(file).hasPrefix("[[actions]]\nname = \"lamp\"\nretries = 5\n"))
            #expect(try set(file, "actions[0].retries", "6").former == 5)
            #expect(try file.unset("actions.lamp", comparingMachine: false).value["retries"] == nil)
            #expect(try changes(file) == "[broker]\nwindow = 7\n")
            #expect(throws: SettingsEditError.self) { try file.unset("actions.lamp", comparingMachine: false) }
            _ = try set(file, "actions.lamp.retries", "5")
            #expect(try file.unset("actions.lamp.retries", comparingMachine: false).value == .null)
            #expect(try changes(file) == "[broker]\nwindow = 7\n")
        }
    }

    @Test("without a settings file, the drop-ins alone are used at the usual place, and a named file has to exist")
    func missing() throws {
        try withFile(nil) { file, path in
            #expect(!file.exists)
            #expect(throws: ConfigurationError.self) { try file.settings() }
            #expect(throws: ConfigurationError.self) { try set(file, "broker.port", "1883") }
            #expect(!FileManager.default.fileExists(atPath: file.changes.parentDirectory))
            let layers = try SettingsLayers.read(path, [])
            #expect(layers.layers.count == 1 && layers.members.isEmpty)
        }
    }

    @Test("a change with unknown names, faulty files or missing things is refused, and changes nothing")
    func refused() throws {
        let text = "[api]\noperate = []\n"
        try withFile(text) { file, path in
            #expect(throws: SettingsEditError.unknown(keyPath: "bus.port", nearest: ["broker.port", "console.port"])) {
                try set(file, "bus.port", "1")
            }
            #expect(throws: SettingsEditError.noElement(array: "hosts", element: "0", there: [])) {
                try set(file, "hosts[0].host", "a")
            }
            let error = #expect(throws: SettingsEditError.self) {
                try file.set("api.operate", to: ["nobody-of-this-name"], comparingMachine: true)
            }
            #expect(error?.message.contains("nobody-of-this-name does not exist") == true)
            #expect(!FileManager.default.fileExists(atPath: file.changes))
            #expect(
                try set(file, "api.operate", "nobody-of-this-name", "root").value == ["nobody-of-this-name", "root"])

            try "[broker]\nprot = 1\n".write(toFile: path, atomically: true, encoding: .utf8)
            #expect(throws: ConfigurationError.self) { try set(file, "broker.port", "1") }
        }
    }

    @Test("tables of a kind in the settings are added, changed by their names, and taken out")
    func tables() throws {
        let text = "# Ours.\n[broker]\nport = 1 # TLS\n"
        try withFile(text) { file, path in
            let action: [(key: String, words: [String])] = [
                ("name", ["007"]), ("filter", ["lamp/#"]), ("command", ["/bin/lamp", "--quick"]), ("retries", ["5"]),
            ]
            let added = try file.add(to: "actions", action, comparingMachine: false)
            // A name that looks like a number is one only where the settings take one.
            #expect(added.value["name"] == "007" && added.value["retries"] == 5)
            #expect(added.value["command"] == ["/bin/lamp", "--quick"])
            let grant: [(key: String, words: [String])] = [
                ("name", ["meter"]), ("user", ["root"]), ("scopes", ["read"]), ("token", ["true"]),
            ]
            #expect(
                try file.add(to: "grants", grant, comparingMachine: false).value
                    == ["name": "meter", "user": "root", "scopes": ["read"], "token": true])
            #expect(try set(file, "actions.007.retries", "6").former == 5)
            #expect(try set(file, "grants[meter].scopes", "write").value == ["write"])
            #expect(try set(file, "actions[0].timeout_seconds", "90").former == .null)
            #expect(try file.setting("actions[007].timeout_seconds").value == 90)
            let expected = """
                [[actions]]
                name = "007"
                command = ["/bin/lamp", "--quick"]
                filter = "lamp/#"
                retries = 6
                timeout_seconds = 90

                [[grants]]
                name = "meter"
                scopes = ["write"]
                token = true
                user = "root"

                """
            #expect(try changes(file) == expected)

            // Refused as a whole, and nothing is changed.
            let wrong: [[(key: String, words: [String])]] = [
                [("name", ["door"])], action, [("name", ["door"]), ("filter", ["#"]), ("comand", ["/b"])],
            ]
            for members in wrong {
                #expect(throws: SettingsEditError.self) {
                    try file.add(to: "actions", members, comparingMachine: false)
                }
            }
            #expect(throws: SettingsEditError.self) { try file.add(to: "broker", action, comparingMachine: false) }
            #expect(throws: SettingsEditError.unknown(keyPath: "action", nearest: [])) {
                try file.add(to: "action", action, comparingMachine: false)
            }
            #expect(throws: SettingsEditError.self) { try file.unset("actions.007.name", comparingMachine: false) }
            #expect(throws: SettingsEditError.notWritten(keyPath: "broker.host", path: file.changes, others: [])) {
                try file.unset("broker.host", comparingMachine: false)
            }
            #expect(try changes(file) == expected)

            #expect(try file.unset("actions.007", comparingMachine: false).former["retries"] == 6)
            #expect(try file.unset("grants[meter]", comparingMachine: false).isWritten)
            #expect(try changes(file) == "")
            #expect(throws: SettingsEditError.notWritten(keyPath: "broker.port", path: file.changes, others: [path])) {
                try file.unset("broker.port", comparingMachine: false)
            }
            #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
        }
    }

    @Test("a settings file that somebody keeps locked who may read it keeps nobody waiting")
    func locked() throws {
        try withFile("[broker]\nport = 1\n") { _, path in
            let other = open(path, O_RDONLY | O_CLOEXEC)
            defer { close(other) }
            #expect(flock(other, LOCK_EX) == 0)
            let first = try FileReplacement(of: path, patience: .zero)
            #expect(throws: SettingsEditError.inUse(path: path, process: getpid())) {
                _ = try FileReplacement(of: path, patience: .milliseconds(1))
            }
            withExtendedLifetime(first) {}
        }
    }

    @Test("changes of the settings at the same time are all made")
    func together() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "settings-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = SettingsFile(folder.appending(path: "latchkey.toml").path, of: Features.all)
        try Data().write(to: URL(filePath: file.path))
        let keys = ["broker.port", "broker.window", "console.port", "outbox.max_age_hours", "gateway.renew_days"]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for key in keys {
                group.addTask { _ = try file.set(key, to: ["\(7)"], comparingMachine: false) }
            }
            try await group.waitForAll()
        }
        for key in keys { #expect(try file.setting(key).value == 7) }
    }
}
