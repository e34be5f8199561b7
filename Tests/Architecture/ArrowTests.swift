import Foundation
import TestSupport
import Testing

/// The map of `Sources/README.md` as a rule: each room with the rooms it may know.
private let allowed: [String: Set<String>] = [
    "Groundwork": [],
    "Settings": ["Groundwork"],
    "Cryptography": ["Groundwork"],
    "Storage": ["Groundwork"],
    "Vault": ["Groundwork", "Cryptography", "Storage"],
    "HTTPClient": ["Groundwork", "Cryptography"],
    "OAuth": ["Groundwork", "Cryptography", "HTTPClient"],
    "Gateway": ["Groundwork", "Cryptography", "HTTPClient", "OAuth", "Vault"],
    "Directories": ["Groundwork", "HTTPClient"],
    "GatewayServices": ["Groundwork", "Cryptography", "HTTPClient", "Directories", "Vault", "Gateway"],
    "OAuthAccounts": ["Groundwork", "Cryptography", "HTTPClient", "OAuth", "Vault"],
    "MPin": ["Groundwork", "Cryptography", "HTTPClient", "Vault"],
    "Messaging": ["Groundwork", "Cryptography", "Storage"],
    "Board": ["Groundwork", "Settings"],
    "Connectivity": ["Groundwork"],
    "Bluetooth": ["Groundwork"],
    "Prompts": ["Groundwork", "Cryptography"],
    "Proximity": ["Groundwork", "Bluetooth", "Prompts"],
    "LocalAPI": ["Groundwork", "HTTPClient"],
    "AgentCore": [
        "Groundwork", "Settings", "Cryptography", "Storage", "Vault", "HTTPClient", "LocalAPI", "Prompts", "Proximity",
        "Board", "Connectivity",
    ],
    "Agent": [
        "AgentCore", "Groundwork", "Storage", "Vault", "HTTPClient", "Gateway", "Board", "LocalAPI", "Prompts",
    ],
    "CommandWords": [],
    "latchkey": [
        "Groundwork", "Settings", "HTTPClient", "Board", "Proximity", "LocalAPI", "AgentCore", "Agent", "AgentBoard",
        "AgentFirstBoot", "AgentInstallation", "AgentMessages", "AgentSettingsFiles", "CommandWords",
    ],
    "GatewayLab": ["Groundwork", "Cryptography"],
    "latchkey-lab": ["Groundwork", "GatewayLab", "CommandWords"],
]

/// What each feature of the agent may know beside ``ofFeatures``: its own rooms, and other features as the map says.
private let knownByFeatures: [String: Set<String>] = [
    "Board": ["AgentMessages", "Board", "Connectivity", "Messaging"],
    "Brokers": ["AgentMessages", "Cryptography", "HTTPClient", "Messaging", "Vault"],
    "Calls": [
        "AgentCertificates", "AgentGateway", "Cryptography", "HTTPClient", "Gateway", "OAuth", "Vault", "Prompts",
    ],
    "Certificates": ["Cryptography", "HTTPClient", "Vault"],
    "Console": [],
    "Crypto": ["AgentCalls", "Cryptography", "Vault"],
    "Directory": [
        "AgentGateway", "Cryptography", "HTTPClient", "Gateway", "GatewayServices", "Directories", "Vault",
    ],
    "FirstBoot": ["AgentGateway", "Board", "Cryptography", "Gateway", "HTTPClient", "Vault"],
    "Gateway": ["Cryptography", "HTTPClient", "Gateway", "Vault", "Prompts", "Messaging", "Board", "Connectivity"],
    "HomeAssistant": ["AgentMessages", "Board", "Messaging", "Storage"],
    "Installation": ["AgentGateway", "Board", "Gateway", "HTTPClient", "Messaging", "Vault"],
    "MPin": ["Cryptography", "Prompts", "Board", "MPin"],
    "Messages": ["AgentGateway", "Cryptography", "HTTPClient", "Gateway", "Messaging", "OAuth", "Board", "Storage"],
    "Listener": ["AgentMetrics"],
    "Metrics": [
        "AgentGateway", "AgentMessages", "AgentBrokers", "AgentCrypto", "AgentPasscode", "Board", "Gateway",
        "Messaging",
        "HTTPClient", "Vault",
    ],
    "Nearby": ["AgentGateway", "Bluetooth", "Board", "Gateway", "Messaging", "Prompts", "Proximity"],
    "Network": ["AgentGateway", "AgentMessages", "AgentBrokers", "Connectivity", "Gateway", "Messaging"],
    "OAuthServers": ["Cryptography", "HTTPClient", "Prompts", "Proximity", "OAuth", "OAuthAccounts", "Vault"],
    "Passcode": ["Cryptography", "Prompts", "Vault"],
    "SettingsFiles": ["Gateway"],
    "Users": [
        "AgentGateway", "AgentNearby", "Cryptography", "Gateway", "Messaging", "OAuth", "Prompts", "Proximity", "Vault",
    ],
]

/// What every feature may know.
private let ofFeatures: Set = ["AgentCore", "Groundwork", "LocalAPI", "Settings"]

/// The systems: none of them knows another feature.
private let systemFeatures: Set = ["MPin", "OAuthServers"]

/// The rooms and the features, each with what it may know. The agent itself lists the features.
private let arrows: [String: Set<String>] = {
    var arrows = allowed
    for (name, known) in knownByFeatures { arrows["Agent\(name)"] = known.union(ofFeatures) }
    arrows["Agent"]?.formUnion(knownByFeatures.keys.map { "Agent\($0)" })
    return arrows
}()

/// The only rooms that may name a library.
private let owners: [String: Set<String>] = [
    "TOMLKit": ["Settings"], "COpenSSL": ["Cryptography"], "CKeyProvider": ["Cryptography"], "CSQLite": ["Storage"],
    "CPKCS11": ["Vault"],
    "CCurl": ["HTTPClient"], "CMosquitto": ["Messaging"], "CGPIOD": ["Board"], "CBluetooth": ["Bluetooth"],
    "CSystemd": ["Bluetooth"], "CMicroHTTPD": ["LocalAPI"], "CQREncode": ["Proximity", "GatewayLab"],
    "CGnuTLS": ["GatewayLab"], "CTSS2": ["Vault"],
]

private let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

@Suite("Arrows between the rooms")
struct ArrowTests {
    /// A target of the manifest, as `swift package dump-package` prints it: that reads the manifest alone, so it
    /// neither resolves dependencies nor waits for the build that runs this test.
    struct Manifest: Decodable {
        struct Target: Decodable {
            struct Dependency: Decodable {
                /// A name, then its condition.
                var byName: [Part]?
                var name: String? { byName?.first?.text }
                var trait: String? { byName?.last?.traits?.first }
            }
            struct Part: Decodable {
                let text: String?
                let traits: [String]?

                init(from decoder: any Decoder) throws {
                    let container = try decoder.singleValueContainer()
                    text = try? container.decode(String.self)
                    traits = try? container.decode([String: [String]].self)["traits"]
                }
            }
            var name: String
            var type: String
            var dependencies: [Dependency]
        }
        var targets: [Target]

        static func read() async throws -> Manifest {
            let scratch = FileManager.default.temporaryDirectory.appending(
                path: "latchkey-manifest-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: scratch) }
            let dumped = try await Program.found.run([
                "swift", "package", "--package-path", root.path, "--scratch-path", scratch.path, "dump-package",
            ])
            return try JSONDecoder().decode(Manifest.self, from: Data(dumped.output.utf8))
        }
    }

    @Test("the manifest has only dependencies that the map of the rooms allows")
    func manifest() async throws {
        let targets = try await Manifest.read().targets.filter { ["regular", "executable"].contains($0.type) }
        let rooms = targets.filter { arrows[$0.name] != nil }
        #expect(rooms.count == arrows.count, "the rule names rooms that are not there")
        for target in rooms {
            let known = Set(target.dependencies.compactMap(\.name))
            #expect(!known.contains("TestSupport"), "\(target.name) may not know what tests share")
            let rising = known.intersection(arrows.keys).subtracting(arrows[target.name] ?? [])
            #expect(rising.isEmpty, "\(target.name) may not know \(rising.sorted())")
        }
    }

    @Test("the sources import only rooms and libraries that the map allows", arguments: arrows.keys.sorted())
    func sources(room: String) throws {
        for (file, imported) in try imports(of: room) {
            if let expected = owners[imported] {
                #expect(expected.contains(room), "\(file) may not import \(imported)")
            } else if arrows[imported] != nil {
                #expect(arrows[room]?.contains(imported) == true, "\(file) may not import \(imported)")
            }
        }
    }

    @Test("nothing extends the agent, which is the list of its features and its life")
    func features() throws {
        for file in try sources() {
            #expect(try !text(of: file).contains(/(?m)^extension Agent\b/), "\(file) extends the agent")
        }
    }

    @Test("a system knows the core of the agent, and no other feature", arguments: systemFeatures.sorted())
    func strangers(system: String) {
        #expect(knownByFeatures[system]?.contains { $0.hasPrefix("Agent") } == false)
    }

    /// A build without the trait then has none of the system.
    @Test(
        "a system is a trait, without which nothing that is shipped depends on it", arguments: systemFeatures.sorted())
    func traits(system: String) async throws {
        let others = Set(knownByFeatures.filter { $0.key != system }.values.joined())
        let parts = (knownByFeatures[system] ?? []).subtracting(others).union(["Agent\(system)"])
        #expect(parts.count == 2, "the feature and its room")
        for target in try await Manifest.read().targets where arrows[target.name] != nil && !parts.contains(target.name)
        {
            for dependency in target.dependencies where dependency.name.map(parts.contains) == true {
                #expect(dependency.trait == system, "\(target.name) depends on \(dependency.name ?? "")")
            }
        }
    }

    /// A system is known in its room, in its feature and in its commands, and named where features and rooms are
    /// listed.
    @Test(
        "no file outside its folders names a system",
        arguments: [
            ("MPin", ["MPin/", "Features/MPin/", "latchkey/Commands/MPin/", "GatewayLab/MPin/"]),
            ("OAuthAccounts", ["OAuthAccounts/", "Features/OAuthServers/"]),
        ])
    func systems(name: String, folders: [String]) throws {
        let named = try Regex("\\b(Agent)?\(name)\\b")
        for file in try sources() where !folders.contains(where: file.hasPrefix) {
            #expect(try !text(of: file).contains(named), "\(file) names \(name)")
        }
    }

    private func sources() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: root.path + "/Sources").filter {
            $0.hasSuffix(".swift") && !["Agent/Features/Features.swift", "latchkey/Systems.swift"].contains($0)
        }
    }

    private func text(of file: String) throws -> String {
        try String(contentsOf: root.appending(path: "Sources/\(file)"), encoding: .utf8)
    }

    @Test("the agent never imports all of Foundation, which would bring 45 MB of ICU")
    func foundation() throws {
        for room in arrows.keys where !["GatewayLab", "latchkey-lab"].contains(room) {
            for (file, imported) in try imports(of: room) {
                #expect(imported != "Foundation" && imported != "FoundationNetworking", "\(file) imports \(imported)")
            }
        }
    }

    /// A library that uses Apple's Network where there is one finds ours instead: whether it then compiles depends on
    /// the order in which modules are built.
    @Test("no room has the name of a module that a dependency looks for")
    func names() async throws {
        let found = try await Program.found.run([
            "grep", "-rhoE", "--include=*.swift", #"canImport\([A-Za-z_0-9]+"#, root.path + "/.build/checkouts",
        ])
        let sought = Set(found.output.split(separator: "\n").map { String($0.drop { $0 != "(" }.dropFirst()) })
        try #require(sought.contains("Darwin"), "the dependencies are not where they are looked for")
        #expect(try await Manifest.read().targets.map(\.name).filter(sought.contains) == [])
    }

    private func imports(of room: String) throws -> [(file: String, module: String)] {
        let name = String(room.dropFirst("Agent".count))
        let folder = root.appending(path: "Sources/\(knownByFeatures[name] == nil ? room : "Features/\(name)")")
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        #expect(!files.isEmpty)
        return try files.flatMap { file in
            try String(contentsOf: folder.appending(path: file), encoding: .utf8).split(separator: "\n").compactMap {
                line in
                let words = line.split(separator: " ")
                guard let keyword = words.firstIndex(of: "import"), keyword <= 2, words.count > keyword + 1,
                    words[..<keyword].allSatisfy({
                        ["public", "internal", "private", "package", "@testable", "@_spi(KeyBytes)"].contains($0)
                    })
                else { return nil }
                // `import struct Module.Name` names the module in its last word.
                let module = words[words.count - 1].split(separator: ".")[0]
                return ("\(room)/\(file)", String(module))
            }
        }
    }
}
