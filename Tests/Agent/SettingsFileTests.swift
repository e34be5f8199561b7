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
        let preset = try AgentConfiguration.survey(toml: "", path: "test.toml", of: Features.all)
        let tables = ["hosts", "brokers", "inbox", "actions", "grants"]
        let keys = preset.map(\.keyPath).filter { !tables.contains($0) }
        let documented = try ConfigurationTests.documentedKeys()
        #expect(keys.sorted() == documented.sorted())
        #expect(Set(preset.map(\.keyPath)).count == preset.count)
        #expect(preset.allSatisfy { !$0.isWritten && $0.value == $0.preset })

        let text = try String(contentsOf: ConfigurationTests.documented, encoding: .utf8)
        let written = try AgentConfiguration.survey(toml: text, path: "test.toml", of: Features.all)
        let members = try SettingsDocument.parse(text)
        for setting in written where !tables.contains(setting.keyPath) {
            let parts = setting.keyPath.split(separator: ".").map(String.init)
            #expect(setting.isWritten && setting.value == setting.preset, "\(setting)")
            #expect(members[parts[0]]?[parts[1]]?.number ?? 0 == setting.value.number ?? 0, "\(setting)")
            #expect(members[parts[0]]?[parts[1]]?.string == setting.value.string, "\(setting)")
        }
    }

    @Test("a settings file keeps its byte order mark when it is changed, and one in UTF-16 becomes UTF-8")
    func encodings() throws {
        let (mark, text) = (Data([0xEF, 0xBB, 0xBF]), Data("[broker]\r\nport = 1\r\n".utf8))
        let changed = Data("[broker]\r\nport = 2\r\n".utf8)
        let wide = Data([0xFF, 0xFE]) + Data(text.flatMap { [$0, 0] })
        for (before, after) in [(mark + text, mark + changed), (wide, changed)] {
            try withFile("") { file, path in
                try before.write(to: URL(filePath: path))
                #expect(try set(file, "broker.port", "2").isWritten)
                #expect(try Data(contentsOf: URL(filePath: path)) == after)
            }
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
            #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
            // It is one of two that belong together.
            guard example.key != "location.source" || example.other != "\"fixed\"" else { return }
            let change = try file.set(example.key, to: words(example.other), comparingMachine: false)
            #expect(change.isWritten && change.value != change.former)
            #expect(try file.setting(example.key).value == change.value)
            let after = try String(contentsOfFile: path, encoding: .utf8)
            let lines = zip(text.split(separator: "\n"), after.split(separator: "\n")).filter { $0 != $1 }
            #expect(lines.count == 1, "\(lines)")
            #expect(try file.set(example.key, to: nil, comparingMachine: false).value == change.former)
        }
    }

    @Test("a change of settings keeps mode and links, and leaves nothing beside the file")
    func mode() throws {
        try withFile("[broker]\nport = 1\n") { _, path in
            #expect(chmod(path, 0o640) == 0)
            let link = path + ".link"
            #expect(symlink(path, link) == 0)
            #expect(try set(SettingsFile(link, of: Features.all), "broker.port", "2").former == 1)
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "[broker]\nport = 2\n")
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(
                attributes[.posixPermissions] as? Int == 0o640
                    && attributes[.type] as? FileAttributeType == .typeRegular)
            let folder = URL(filePath: path).deletingLastPathComponent().path
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 2)
            // What is so already is not written again.
            #expect(try set(SettingsFile(link, of: Features.all), "broker.port", "2").isWritten == false)
        }
    }

    @Test("a settings file that does not exist is made with the one setting")
    func made() throws {
        try withFile(nil) { file, path in
            #expect(!file.exists)
            #expect(throws: ConfigurationError.self) { try file.settings() }
            let change = try set(file, "broker.port", "1883")
            #expect(change.isWritten)
            let text = try String(contentsOfFile: path, encoding: .utf8)
            #expect(text == "[broker]\nport = 1883\n")
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
            #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
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
                # Ours.
                [broker]
                port = 1 # TLS

                [[actions]]
                name = "007"
                filter = "lamp/#"
                command = ["/bin/lamp", "--quick"]
                retries = 6
                timeout_seconds = 90

                [[grants]]
                name = "meter"
                user = "root"
                scopes = ["write"]
                token = true

                """
            #expect(try String(contentsOfFile: path, encoding: .utf8) == expected)

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
            #expect(throws: SettingsEditError.notWritten(keyPath: "broker.host", path: path)) {
                try file.unset("broker.host", comparingMachine: false)
            }
            #expect(try String(contentsOfFile: path, encoding: .utf8) == expected)

            #expect(try file.unset("actions.007", comparingMachine: false).former["retries"] == 6)
            #expect(try file.unset("grants[meter]", comparingMachine: false).isWritten)
            #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
            #expect(try file.unset("broker.port", comparingMachine: false).value == 0)
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "# Ours.\n[broker]\n")
        }
    }

    @Test("a change of the settings that somebody else makes meanwhile is found, and not overwritten")
    func meanwhile() throws {
        try withFile("before\n") { _, path in
            let replacement = try FileReplacement(of: path)
            try "theirs\n".write(toFile: path, atomically: false, encoding: .utf8)
            #expect(try replacement.replace(Array("before\n".utf8), with: Array("ours\n".utf8)) == false)
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "theirs\n")
            // An editor that replaces the file by another one of the same content.
            try "theirs\n".write(toFile: path, atomically: true, encoding: .utf8)
            #expect(try replacement.replace(Array("theirs\n".utf8), with: Array("ours\n".utf8)) == false)
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "theirs\n")
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
