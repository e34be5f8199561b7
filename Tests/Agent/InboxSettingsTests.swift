import Foundation
import Messaging
import Settings
import Testing

@testable import Agent
@testable import AgentCore
@testable import AgentMessages

@Suite("Settings of inboxes and actions")
struct InboxSettingsTests {
    private func read(_ toml: String) throws -> AgentConfiguration {
        try AgentConfiguration(toml: toml, path: "test.toml")
    }

    private func faults(_ toml: String) throws -> [String] {
        let error = try #require(throws: ConfigurationError.self) { try read(toml) }
        guard case .faults(_, let faults) = error else { throw error }
        return faults.map(\.keyPath)
    }

    @Test("the documented examples of inboxes and actions hold every key, with its default")
    func documented() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Config/latchkey.toml")
        // What follows each mark, without the comments behind the values.
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
        func example(_ name: String) throws -> String {
            let start = try #require(lines.firstIndex(of: "# [[\(name)]]"))
            var settings: [String] = []
            for line in lines[start...].prefix(while: { $0.hasPrefix("#") }) {
                let text = line.dropFirst(2)
                guard text.hasPrefix("[") || (text.first?.isLetter == true && text.contains(" = ")) else { continue }
                settings.append(String(text.replacing(#/    .*/#, with: "")))
            }
            return settings.joined(separator: "\n")
        }
        let inbox = try #require(try read(example("inbox")).inboxes.first)
        #expect(inbox == (try read("[[inbox]]\nname = \"orders\"\nfilter = \"orders/#\"\n")).inboxes[0])
        let action = try #require(try read(example("actions")).actions.first)
        let least = """
            [[actions]]
            name = "backup"
            filter = "backup"
            command = ["/usr/local/bin/backup", "--quick"]
            """
        #expect(action == (try read(least)).actions[0])
        for key in ["raw", "qos", "limit_bytes", "limit_messages", "max_age_hours", "retained"] {
            #expect(try example("inbox").contains("\(key) = "), "\(key)")
        }
        for key in ["timeout_seconds", "output_limit", "retries", "socket", "allow_root"] {
            #expect(try example("actions").contains("\(key) = "), "\(key)")
        }
    }

    @Test("values of inboxes and actions are taken, and filters are below the device's topics unless raw")
    func values() throws {
        let settings = try read(
            """
            [[inbox]]
            name = "all"
            filter = "+/x"
            raw = true
            qos = 0
            limit_bytes = 70000
            limit_messages = 7
            max_age_hours = 2
            retained = true
            [[actions]]
            name = "act"
            filter = "act"
            command = ["/bin/true"]
            """)
        let topics = try TopicNamespace(prefix: "", deviceID: "d1")
        #expect(
            try settings.allInboxes[0].policy(topics)
                == InboxPolicy(
                    name: "all", filter: try TopicFilter("+/x"), qos: .atMostOnce, limitBytes: 70_000,
                    limitMessages: 7, maxAge: .seconds(7200), takesRetained: true))
        #expect(try settings.allInboxes[1].policy(topics).filter.text == "/2.0/client/devices/d1/custom/act")
    }

    @Test("faults of inboxes and actions are named by their place, and a name can be used once")
    func refused() throws {
        #expect(try faults("[[inbox]]\nfilter = \"a\"\n") == ["inbox[0].name"])
        #expect(try faults("[[inbox]]\nname = \"A b\"\nfilter = \"a/#/b\"\n") == ["inbox[0].name", "inbox[0].filter"])
        #expect(try faults("[[inbox]]\nname = \"a\"\nfilter = \"a\"\nfliter = \"a\"\n") == ["inbox[0].fliter"])
        let inbox = "[[inbox]]\nname = \"a\"\nfilter = \"a\"\n"
        #expect(try faults(inbox + inbox) == ["inbox[1].name"])
        let action = "[[actions]]\nname = \"a\"\nfilter = \"a\"\n"
        #expect(try faults(inbox + action + "command = \"/bin/true\"\n") == ["actions[0].name"])
        #expect(try faults(action) == ["actions[0].command"])
        #expect(try faults(action + "command = [\"true\"]\n") == ["actions[0].command"])
        #expect(
            try faults(action + "command = \"/bin/true\"\ntimeout_seconds = 0\nretries = -1\n")
                == ["actions[0].timeout_seconds", "actions[0].retries"])
    }
}
