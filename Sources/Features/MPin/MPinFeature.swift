import AgentCore
import Board
import Groundwork
import LocalAPI
import MPin
import Settings

/// The table `[mpin]`.
struct MPinSettings: TypedValue {
    /// Path of an input device; empty: none.
    var keypad = ""
}

/// Users of M-Pin back ends, who log in with a PIN that is stored nowhere.
package struct MPinFeature: Feature {
    let host: Host
    let kind: MPinKind

    package init(_ host: Host) {
        self.host = host
        kind = MPinKind(host)
    }

    package static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        root.table("mpin") { $0.string("keypad", &configuration[MPinSettings.self].keypad, .absolutePathOrEmpty) }
    }

    package static var checks: [any HealthCheck] { [MPinCheck()] }

    package static var accountMembers: [String: Schema] {
        ["backend": MPinConfiguration.schema("An M-Pin back end"), "users": .mpinUsers]
    }

    package static var recordRules: RecordRules { RecordRules { name, _, _ in MPinBackends.isOfUsers(name) } }

    package static var errors: [any Explained.Type] { [MPinError.self, MPinPromptError.self] }

    package static var events: [any ReportedEvent.Type] { [MPinEvent.self] }

    package static var statusMembers: [String: Schema] {
        [
            "mpin": .object(
                all: [
                    "backends": .integer("accounts at M-Pin back ends"), "users": .integer("users at all of them"),
                    "registered": .integer("users who can log in"),
                    "blocked": .integer("users who can no longer log in"),
                ], "Present if there is an M-Pin back end")
        ]
    }

    package static var consoleSection: ConsoleSection? {
        ConsoleSection(html: PackageResources.mpin_html, script: PackageResources.mpin_js)
    }

    package var accountKinds: [any AccountKind] { [kind] }

    package func examine(into state: inout AgentState) async throws {
        state.found[MPinCheck.name] = .array(try await kind.reports())
    }

    package func services() -> [any Service] {
        let path = host.settings[MPinSettings.self].keypad
        guard !path.isEmpty else { return [] }
        let service = KeypadService(keypad: Keypad(path: path), prompts: host.prompts)
        return [host.restarting("keypad") { try await service.run() }]
    }

    package func status() async throws -> [String: JSON] {
        let accounts = try await kind.reports()
        guard !accounts.isEmpty else { return [:] }
        let states = accounts.flatMap { $0["users"]?.array ?? [] }.compactMap { $0["state"]?.string }
        func count(_ state: MPinUserState) -> JSON { .integer(Int64(states.count { $0 == state.rawValue })) }
        return [
            "mpin": [
                "backends": .integer(Int64(accounts.count)), "users": .integer(Int64(states.count)),
                "registered": count(.registered), "blocked": count(.blocked),
            ]
        ]
    }
}
