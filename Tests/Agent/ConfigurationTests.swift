import Cryptography
import Foundation
import Gateway
import Groundwork
import Logging
import Settings
import TestSupport
import Testing

@testable import Agent
@testable import AgentCalls
@testable import AgentCore
@testable import AgentGateway
@testable import AgentMessages
@testable import AgentSettingsFiles

@Suite("The agent's settings")
struct ConfigurationTests {
    /// `Config/latchkey.toml` of the source tree.
    static let documented = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Config/latchkey.toml")

    /// Every key as `table.key`, in the order of the documented file.
    static func documentedKeys() throws -> [String] {
        var table = ""
        return try String(contentsOf: documented, encoding: .utf8).split(separator: "\n").compactMap { line in
            if line.hasPrefix("["), let end = line.firstIndex(of: "]") {
                table = String(line[line.index(after: line.startIndex)..<end])
                return nil
            }
            guard !line.hasPrefix("#"), let equals = line.firstIndex(of: "=") else { return nil }
            return "\(table).\(line[..<equals].trimmingCharacters(in: .whitespaces))"
        }
    }

    private static func text(_ key: String, _ value: String) -> String {
        let parts = key.split(separator: ".")
        return "[\(parts.dropLast().joined(separator: "."))]\n\(parts.last ?? "") = \(value)\n"
    }

    @Test("the documented file holds every key with its default")
    func documentedDefaults() throws {
        let text = try String(contentsOf: Self.documented, encoding: .utf8)
        #expect(try AgentConfiguration(toml: text, path: "latchkey.toml") == AgentConfiguration())
        #expect(try Self.documentedKeys().sorted() == Self.examples.map(\.key).sorted())
    }

    @Test("the settings file's value of each key is taken", arguments: examples)
    func taken(example: (key: String, wrong: String, other: String)) throws {
        let configuration = try AgentConfiguration(toml: Self.text(example.key, example.other), path: "test.toml")
        #expect(configuration != AgentConfiguration(), "\(example.key) has no effect")
    }

    @Test("a wrong value of each settings key is a fault that names it", arguments: examples)
    func refused(example: (key: String, wrong: String, other: String)) throws {
        let error = try #require(throws: ConfigurationError.self) {
            try AgentConfiguration(toml: Self.text(example.key, example.wrong), path: "test.toml")
        }
        guard case .faults("test.toml", let faults) = error else { throw error }
        #expect(faults.map(\.keyPath) == [example.key])
        #expect(faults.allSatisfy { !$0.fix.isEmpty })
        #expect(error.message.contains(example.key))
    }

    @Test("a fixed location in the settings has to be complete")
    func fixedLocation() throws {
        for text in ["", "latitude = 1.0\n", "longitude = 1.0\n"] {
            let error = try #require(throws: ConfigurationError.self) {
                try AgentConfiguration(toml: "[location]\nsource = \"fixed\"\n" + text, path: "test.toml")
            }
            guard case .faults(_, let faults) = error else { throw error }
            #expect(faults.map(\.keyPath) == ["location.source"])
        }
        let taken = try AgentConfiguration(
            toml: "[location]\nsource = \"fixed\"\nlatitude = 0.0\nlongitude = 0\n", path: "test.toml")
        #expect(taken[LocationSettings.self].source == "fixed")
    }

    @Test(
        "unknown tables and keys of the settings are refused, all faults at once",
        arguments: [
            ("[brokr]\nport = 1\n", ["brokr"]),
            ("[broker]\nprot = 1\n", ["broker.prot"]),
            ("[broker]\nprot = 1\nport = -1\n[telemetry]\nqos = 7\n", ["broker.port", "broker.prot", "telemetry.qos"]),
        ])
    func unknown(text: String, places: [String]) throws {
        let error = try #require(throws: ConfigurationError.self) {
            try AgentConfiguration(toml: text, path: "test.toml")
        }
        guard case .faults(_, let faults) = error else { throw error }
        #expect(faults.map(\.keyPath).sorted() == places)
    }

    @Test("hosts of the settings are read with all their proofs, and a host without any is a fault")
    func hosts() throws {
        let pin = String(repeating: "ab", count: 32)
        let taken = try AgentConfiguration(
            toml: """
                [[hosts]]
                host = "API.example:8443"
                pins = ["\(pin)"]
                name_check = "off"
                timeout_seconds = 5
                [[hosts]]
                host = "weather.example"
                public = true
                public_authorities = true
                """, path: "test.toml")
        #expect(
            taken.hosts == [
                try HostSecurity(
                    host: "api.example", port: 8443, pins: [#require(PublicKeyPin(pin))], nameCheck: .off,
                    timeout: .seconds(5)),
                try HostSecurity(host: "weather.example", port: 443, isPublic: true, usesPublicAnchors: true),
            ])
        for (text, place) in [
            ("host = \"api.example\"", "hosts[0].host"), ("pins = \"\(pin)\"", "hosts[0].host"),
            ("host = \"https://a\"\npublic_authorities = true", "hosts[0].host"),
            ("host = \"a:0\"\npublic_authorities = true", "hosts[0].host"),
            ("host = \"a\"\npins = \"x\"", "hosts[0].pins"), ("host = \"a\"\ntrust = 1", "hosts[0].trust"),
            ("host = \"a\"\ncertificates = \"/nope.pem\"", "hosts[0].certificates"),
            (
                "host = \"a\"\npublic_authorities = true\n[[hosts]]\nhost = \"A\"\npublic_authorities = true",
                "hosts[1].host"
            ),
        ] {
            let error = #expect(throws: ConfigurationError.self, "\(text)") {
                try AgentConfiguration(toml: "[[hosts]]\n" + text, path: "test.toml")
            }
            guard case .faults(_, let faults)? = error else { continue }
            #expect(faults.map(\.keyPath) == [place], "\(text)")
        }
    }

    @Test("a settings file that is not TOML is a fault with its line")
    func notTOML() throws {
        let error = try #require(throws: ConfigurationError.self) {
            try AgentConfiguration(toml: "[agent]\nlog_level = \n", path: "test.toml")
        }
        #expect(error.message.contains("line 2"))
    }

    @Test("a settings file that is missing, too long or not UTF-8 is refused with its path")
    func unreadable() throws {
        try withFolder { folder in
            let missing = folder + "/missing.toml"
            #expect(throws: ConfigurationError.unreadable(path: missing, reason: "No such file or directory")) {
                try AgentConfiguration.load(path: missing)
            }
            let long = folder + "/long.toml"
            try Data(repeating: UInt8(ascii: "#"), count: SettingsDocument.limit + 1).write(to: URL(filePath: long))
            #expect(
                throws: ConfigurationError.unreadable(
                    path: long, reason: "it has more than \(SettingsDocument.limit) bytes")
            ) {
                try AgentConfiguration.load(path: long)
            }
            let binary = folder + "/binary.toml"
            try Data([0x0A, 0x23, 0xFF]).write(to: URL(filePath: binary))
            let reason = "line 2 is not UTF-8: save it as UTF-8"
            #expect(throws: ConfigurationError.unreadable(path: binary, reason: reason)) {
                try AgentConfiguration.load(path: binary)
            }
        }
    }

    @Test("a settings file that Windows has saved as UTF-16 is read")
    func utf16() throws {
        try withFolder { folder in
            let path = folder + "/wide.toml"
            let text = "[broker]\r\nport = 1\r\n"
            try (Data([0xFF, 0xFE]) + Data(text.utf8.flatMap { [$0, 0] })).write(to: URL(filePath: path))
            #expect(try AgentConfiguration.load(path: path).broker.port == 1)
        }
    }

    @Test("directories of systemd win over the settings' defaults, never over the file")
    func systemdDirectories() throws {
        let environment = ["STATE_DIRECTORY": "/var/lib/other", "RUNTIME_DIRECTORY": "/run/other"]
        var placed = AgentConfiguration()
        placed.placeBySystemd(environment, of: Features.all)
        #expect(placed.stateDirectory == "/var/lib/other")
        #expect(placed.api.socket == "/run/other/api.sock")
        #expect(placed[ProxySettings.self].socket == "/run/other/proxy.sock")

        var written = AgentConfiguration()
        written.stateDirectory = "/srv/state"
        written.api.socket = "/srv/api.sock"
        written[ProxySettings.self].socket = "/srv/proxy.sock"
        var kept = written
        kept.placeBySystemd(environment, of: Features.all)
        #expect(kept == written)
        var several = AgentConfiguration()
        several.placeBySystemd(["STATE_DIRECTORY": "/a:/b"], of: Features.all)
        #expect(several == AgentConfiguration())
    }
}
