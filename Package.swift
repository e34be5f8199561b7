// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    // The shipped program has to stay below 24 MiB; what is slow in it waits for disks and networks.
    .unsafeFlags(["-Osize"], .when(configuration: .release)),
]

/// Exports no function of the shipped program, packs what is relocated at its start, binds all it calls before that,
/// and has what libdispatch asks of the system go through `CRuntime`.
let compact: [LinkerSetting] = [
    .unsafeFlags(
        [
            "--no-export-dynamic", "-z", "pack-relative-relocs", "-z", "now", "--wrap=dispatch_source_set_timer",
            "--wrap=setpriority",
        ]
        .flatMap { ["-Xlinker", $0] }, .when(configuration: .release))
]

/// A system library: a module map under `Sources/`, installed from Debian.
func system(_ name: String, apt package: String) -> Target {
    .systemLibrary(name: name, path: "Sources/\(name)", providers: [.apt([package])])
}

/// A room of the house; what it may know is exactly what is listed.
func room(
    _ name: String, _ dependencies: [Target.Dependency] = [], path: String? = nil, exclude: [String] = [],
    resources: [Resource]? = nil
)
    -> Target
{
    .target(
        name: name, dependencies: dependencies, path: "Sources/\(path ?? name)", exclude: exclude, resources: resources,
        swiftSettings: strict)
}

/// A feature of the agent, beside what all of them may know.
///
/// - Parameter pages: files of a page in a browser, in its folder `Page`.
func feature(_ name: String, _ dependencies: [Target.Dependency], pages: [String] = []) -> Target {
    room(
        "Agent\(name)", ["AgentCore", "Groundwork", "LocalAPI", "Settings"] + dependencies, path: "Features/\(name)",
        resources: embedded(pages))
}

/// Files of the folder `Page` of a target, as bytes in its code.
func embedded(_ pages: [String]) -> [Resource] { pages.map { .embedInCode("Page/\($0)") } }

let features: [Target.Dependency] = [
    "AgentGateway",
    "AgentPasscode",
    "AgentMessages",
    "AgentBrokers",
    "AgentBoard",
    "AgentHomeAssistant",
    "AgentCertificates",
    "AgentCalls",
    "AgentCrypto",
    "AgentDirectory",
    "AgentNearby",
    "AgentUsers",
    "AgentNetwork",
    "AgentMetrics",
    "AgentListener",
    "AgentFirstBoot",
    "AgentConsole",
    "AgentSettingsFiles",
    "AgentInstallation",
]

/// The features of systems beside the mobile gateway, each built if its trait is enabled.
let systems: [Target.Dependency] = ["OAuthServers", "MPin"]
    .map { .byName(name: "Agent\($0)", condition: .when(traits: [$0])) }

func tests(of name: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = []) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: [.byName(name: name)] + dependencies, path: "Tests/\(name)",
        exclude: exclude, swiftSettings: strict)
}

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let signals = Target.Dependency.product(name: "UnixSignals", package: "swift-service-lifecycle")
let toml = Target.Dependency.product(name: "TOMLKit", package: "TOMLKit")

let parsers: [Target.Dependency] =
    [
        "Groundwork", "Settings", "Cryptography", "Vault", "HTTPClient", "OAuth", "Gateway", "GatewayServices",
        "Directories", "Messaging",
        "Board", "Connectivity", "Bluetooth", "Proximity", "LocalAPI", "MPin", "Agent", "AgentCore",
    ] + features + systems

/// The fuzz targets: a program of libFuzzer's for `deploy/fuzz`, else a test that runs their seeds.
let fuzzing: [Target] =
    Context.environment["LATCHKEY_FUZZ"] == nil
    ? [
        .testTarget(
            name: "FuzzTests", dependencies: parsers, path: "Tests/Fuzz", exclude: ["Corpus", "Fuzzer.swift"],
            swiftSettings: strict)
    ]
    : [
        .executableTarget(
            name: "fuzz", dependencies: parsers, path: "Tests/Fuzz", exclude: ["Corpus", "CorpusTests.swift"],
            swiftSettings: strict)
    ]

let package = Package(
    name: "latchkey",
    products: [
        .executable(name: "latchkey", targets: ["latchkey"]),
        .executable(name: "latchkey-lab", targets: ["latchkey-lab"]),
        .library(name: "latchkey-lab-broker", type: .dynamic, targets: ["LabBrokerPlugin"]),
    ],
    traits: [
        .trait(name: "OAuthServers", description: "Accounts at OAuth 2.0 and OpenID Connect servers"),
        .trait(name: "MPin", description: "Users at M-Pin back ends, who log in with a PIN"),
        .default(enabledTraits: ["OAuthServers", "MPin"]),
    ],
    // Exactly those that were tested.
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
        .package(url: "https://github.com/LebJe/TOMLKit", exact: "0.6.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1", traits: []),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
    ],
    targets: [
        system("CLinux", apt: "linux-libc-dev"),
        system("COpenSSL", apt: "libssl-dev"),
        system("CSQLite", apt: "libsqlite3-dev"),
        system("CCurl", apt: "libcurl4-openssl-dev"),
        system("CMosquitto", apt: "libmosquitto-dev"),
        system("CGPIOD", apt: "libgpiod-dev"),
        system("CMicroHTTPD", apt: "libmicrohttpd-dev"),
        system("CQREncode", apt: "libqrencode-dev"),
        system("CGnuTLS", apt: "libgnutls28-dev"),
        system("CBluetooth", apt: "libbluetooth-dev"),
        system("CSystemd", apt: "libsystemd-dev"),
        system("CTSS2", apt: "libtss2-dev"),
        system("CPKCS11", apt: "libp11-kit-dev"),

        // How the program differs from its tests, which have memory checkers: quiet dispatch pools, a heap that is
        // wiped.
        .target(
            name: "CRuntime", path: "Sources/CRuntime",
            cSettings: [.define("LATCHKEY_IS_SHIPPED", .when(configuration: .release))]),
        .target(name: "CReadHook", path: "Sources/CReadHook"),
        .target(name: "CKeyProvider", dependencies: ["COpenSSL"], path: "Sources/CKeyProvider"),

        room("Groundwork", ["CLinux"]),
        room("Settings", ["Groundwork", toml]),
        room("Cryptography", ["Groundwork", "COpenSSL", "CKeyProvider"]),
        room("Storage", ["Groundwork", "CLinux", "CSQLite"]),
        room("Vault", ["Groundwork", "Cryptography", "Storage", "CTSS2", "CPKCS11"], exclude: ["README.md"]),
        room("HTTPClient", ["Groundwork", "Cryptography", "CCurl"]),
        room("OAuth", ["Groundwork", "Cryptography", "HTTPClient"]),
        room("Gateway", ["Groundwork", "Cryptography", "HTTPClient", "OAuth", "Vault"]),
        room("Directories", ["Groundwork", "HTTPClient"]),
        room("GatewayServices", ["Groundwork", "Cryptography", "HTTPClient", "Directories", "Vault", "Gateway"]),
        room("OAuthAccounts", ["Groundwork", "Cryptography", "HTTPClient", "OAuth", "Vault"]),
        room("MPin", ["Groundwork", "Cryptography", "HTTPClient", "Vault"]),
        room("Messaging", ["Groundwork", "Cryptography", "Storage", "CMosquitto", "CReadHook"]),
        room("Board", ["Groundwork", "Settings", "CGPIOD"]),
        room("Connectivity", ["Groundwork"]),
        room("Bluetooth", ["Groundwork", "CBluetooth", "CSystemd"]),
        room("Prompts", ["Groundwork", "Cryptography"]),
        room("Proximity", ["Groundwork", "Bluetooth", "Prompts", "CQREncode"]),
        room("LocalAPI", ["Groundwork", "HTTPClient", "CMicroHTTPD"]),
        room("CommandWords", [argumentParser]),
        room(
            "AgentCore",
            [
                "Groundwork", "Settings", "Cryptography", "Storage", "Vault", "HTTPClient", "LocalAPI", "Prompts",
                "Proximity", "Board", "Connectivity", logging,
            ]),
        feature(
            "Gateway",
            ["Cryptography", "HTTPClient", "Gateway", "Vault", "Prompts", "Messaging", "Board", "Connectivity"]),
        feature("Passcode", ["Cryptography", "Prompts", "Vault"]),
        feature(
            "Messages",
            ["AgentGateway", "Cryptography", "HTTPClient", "Gateway", "Messaging", "OAuth", "Board", "Storage"]),
        feature("Brokers", ["AgentMessages", "Cryptography", "HTTPClient", "Messaging", "Vault"]),
        feature("Board", ["AgentMessages", "Board", "Connectivity", "Messaging"]),
        feature("HomeAssistant", ["AgentMessages", "Board", "Messaging", "Storage"]),
        feature("Certificates", ["Cryptography", "HTTPClient", "Vault"]),
        feature("Crypto", ["AgentCalls", "Cryptography", "Vault"]),
        feature(
            "Calls",
            ["AgentCertificates", "AgentGateway", "Cryptography", "HTTPClient", "Gateway", "OAuth", "Vault", "Prompts"]),
        feature(
            "Directory",
            ["AgentGateway", "Cryptography", "HTTPClient", "Gateway", "GatewayServices", "Directories", "Vault"]),
        feature("Nearby", ["AgentGateway", "Bluetooth", "Board", "Gateway", "Messaging", "Prompts", "Proximity"]),
        feature(
            "Users",
            [
                "AgentGateway", "AgentNearby", "Cryptography", "Gateway", "Messaging", "OAuth", "Prompts", "Proximity",
                "Vault",
            ]),
        feature("Network", ["AgentGateway", "AgentMessages", "AgentBrokers", "Connectivity", "Gateway", "Messaging"]),
        feature(
            "Metrics",
            [
                "AgentGateway", "AgentMessages", "AgentBrokers", "AgentCrypto", "AgentPasscode", "Board", "Gateway",
                "Messaging", "HTTPClient", "Vault",
            ]),
        feature("Listener", ["AgentMetrics"]),
        feature("FirstBoot", ["AgentGateway", "Board", "Cryptography", "Gateway", "HTTPClient", "Vault"]),
        feature(
            "Console", [],
            pages: ["page.html", "page.css", "core.js", "prompts.js", "views.js", "logins.js", "people.js"]),
        feature("MPin", ["Cryptography", "Prompts", "Board", "MPin"], pages: ["mpin.html", "mpin.js"]),
        feature("OAuthServers", ["Cryptography", "HTTPClient", "Prompts", "Proximity", "OAuth", "OAuthAccounts"]),
        feature("SettingsFiles", ["Gateway"]),
        feature("Installation", ["AgentGateway", "Board", "Gateway", "HTTPClient", "Messaging", "Vault"]),
        room(
            "Agent",
            [
                "AgentCore", "Groundwork", "Storage", "Vault", "HTTPClient", "Gateway", "Board", "LocalAPI", "Prompts",
                logging, signals,
            ] + features + systems),
        .executableTarget(
            name: "latchkey",
            dependencies: [
                "Groundwork", "Settings", "Agent", "AgentCore", "AgentSettingsFiles", "AgentInstallation",
                "AgentMessages",
                "AgentFirstBoot", "AgentBoard", "LocalAPI", "HTTPClient", "Board", "Proximity", "CRuntime",
                "CLinux", "CommandWords", argumentParser, logging,
            ],
            path: "Sources/latchkey", swiftSettings: strict, linkerSettings: compact),

        .target(
            name: "GatewayLab",
            dependencies: [
                "Groundwork", "Cryptography", "CQREncode", "CGnuTLS", logging,
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            path: "Sources/GatewayLab",
            resources: ["page.css", "calls.js", "views.js", "mpin.js", "controls.js"].map {
                .embedInCode("Admin/Page/\($0)")
            },
            swiftSettings: strict),
        .executableTarget(
            name: "latchkey-lab",
            dependencies: ["Groundwork", "GatewayLab", "CommandWords", argumentParser, logging],
            path: "Sources/latchkey-lab", swiftSettings: strict),
        .target(name: "LabBrokerPlugin", path: "Sources/LabBrokerPlugin"),

        // What tests share: programs as users start them, a board, clocks, authorities, a radio and a gateway that
        // obey.
        .target(
            name: "TestSupport",
            dependencies: [
                "Groundwork", "Cryptography", "COpenSSL", "CLinux", "Bluetooth", "Proximity", "GatewayLab",
            ],
            path: "Tests/Support", exclude: ["browser.py"], swiftSettings: strict),
        tests(of: "Groundwork", ["CLinux", "TestSupport"]),
        tests(of: "Cryptography", ["Groundwork", "COpenSSL", "TestSupport"]),
        tests(of: "Storage", ["Groundwork"]),
        tests(
            of: "Vault", ["Groundwork", "Cryptography", "Storage", "Messaging", "TestSupport"],
            exclude: ["Formats", "read_export.py", "read_envelope.py", "check_pair.py"]),
        tests(of: "HTTPClient", ["Groundwork", "Cryptography", "TestSupport"], exclude: ["server.py"]),
        tests(of: "OAuth", ["Groundwork", "Cryptography", "HTTPClient"], exclude: ["id-tokens.json"]),
        tests(
            of: "OAuthAccounts", ["Groundwork", "Cryptography", "HTTPClient", "OAuth", "Vault", "TestSupport"],
            exclude: ["server.py"]),
        tests(
            of: "Gateway", ["Groundwork", "Cryptography", "HTTPClient", "OAuth", "Vault", "GatewayLab", "TestSupport"]),
        tests(of: "Directories", ["Groundwork", "HTTPClient"]),
        tests(
            of: "GatewayServices",
            [
                "Groundwork", "Cryptography", "HTTPClient", "Directories", "Vault", "Gateway", "GatewayLab",
                "TestSupport",
            ],
            exclude: ["prepare", "requirements.txt", "scim_server.py", "check_lab.py", "test_lab.py"]),
        tests(
            of: "MPin", ["Groundwork", "Cryptography", "HTTPClient", "Vault", "GatewayLab", "TestSupport"],
            exclude: ["Vectors", "server.py", "server_secrets.py"]),
        tests(of: "Messaging", ["Groundwork", "Cryptography", "Storage", "TestSupport"], exclude: ["Formats"]),
        tests(of: "Board", ["Groundwork", "Settings", "TestSupport"], exclude: ["device-trees.json"]),
        tests(of: "Connectivity", ["Groundwork", "TestSupport"]),
        tests(of: "Bluetooth", ["Groundwork", "TestSupport"]),
        tests(of: "Prompts", ["Groundwork", "Cryptography", "TestSupport"]),
        tests(of: "Proximity", ["Groundwork", "Cryptography", "Bluetooth", "Prompts", "TestSupport"]),
        tests(of: "LocalAPI", ["Groundwork", "HTTPClient", "TestSupport"]),
        tests(
            of: "Agent",
            features + systems + [
                "AgentCore", "Groundwork", "Settings", "Cryptography", "Vault", "Storage", "HTTPClient", "OAuth",
                "Gateway",
                "Messaging", "Board", "Connectivity", "Bluetooth", "Prompts", "Proximity", "LocalAPI", logging,
                "TestSupport",
            ]),
        tests(
            of: "latchkey",
            ["TestSupport", "Groundwork", "CommandWords", "LocalAPI", "Agent", "AgentCore", argumentParser]),
        tests(
            of: "GatewayLab", ["Groundwork", "Cryptography"],
            exclude: [
                "page.py", "mpin_client.py", "mpin_curve.py", "mpin_forms.py", "mpin_scenarios.py", "tls_client.py",
            ]),
        .executableTarget(
            name: "mpin-benchmark", dependencies: ["Groundwork", "Cryptography", "MPin", "COpenSSL"],
            path: "Tests/Benchmarks/MPin", swiftSettings: strict),
        .executableTarget(
            name: "bluetooth-probe", dependencies: ["Groundwork", "Bluetooth"], path: "Tests/Hardware/BluetoothProbe",
            swiftSettings: strict),
        .executableTarget(
            name: "hardware-probe", dependencies: ["Groundwork", "Board"], path: "Tests/Hardware/Probe",
            swiftSettings: strict),
        .testTarget(
            name: "HardwareTests",
            dependencies: [
                "TestSupport", "Groundwork", "GatewayLab", "hardware-probe", "bluetooth-probe", "latchkey",
                "latchkey-lab",
            ], path: "Tests/Hardware",
            exclude: ["Probe", "BluetoothProbe", "Phone", "Scripts"], swiftSettings: strict),
        .testTarget(
            name: "ArchitectureTests", dependencies: ["TestSupport"], path: "Tests/Architecture",
            swiftSettings: strict),
        // Whole programs: built before the tests because the tests depend on them.
        .testTarget(
            name: "AcceptanceTests",
            dependencies: ["TestSupport", "GatewayLab", "Groundwork", "Cryptography", "latchkey", "latchkey-lab"],
            path: "Tests/Acceptance",
            exclude: [
                "browser_login.py", "cli_json.py", "console.py", "every_route.py", "glewlwyd.py", "gps.py",
                "metrics.py",
                "mpin_console.py", "mpin_tmux.py", "proxy.py", "token_server.py",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "FaultTests", dependencies: ["TestSupport", "GatewayLab", "Groundwork", "latchkey"],
            path: "Tests/Faults", exclude: ["Clock"],
            swiftSettings: strict),
        .testTarget(
            name: "CrashTests",
            dependencies: [
                "TestSupport", "Groundwork", "Cryptography", "Storage", "Vault", "Messaging", "GatewayLab",
                "latchkey", "latchkey-lab",
            ], path: "Tests/Crash", exclude: ["powercut.py"], swiftSettings: strict),
        .testTarget(
            name: "HostileTests",
            dependencies: [
                "TestSupport", "Groundwork", "Cryptography", "Storage", "Vault", "HTTPClient", "Gateway", "Messaging",
                "GatewayLab",
                "latchkey", "latchkey-lab",
            ],
            path: "Tests/Hostile", exclude: ["bad_servers.py", "attack.py"], swiftSettings: strict),
    ] + fuzzing
)
