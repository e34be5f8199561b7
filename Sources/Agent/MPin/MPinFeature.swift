import Board
import Groundwork
import LocalAPI
import MPin
import Settings

/// Users of M-Pin back ends, who log in with a PIN that is stored nowhere.
struct MPinFeature: Feature {
    static let keypad = Setting("mpin.keypad", preset: "")

    let host: Host
    let kind: MPinKind

    init(_ host: Host) {
        self.host = host
        kind = MPinKind(host)
    }

    static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        root.table("mpin") { $0.string("keypad", &configuration[Self.keypad], .absolutePathOrEmpty) }
    }

    static var checks: [any HealthCheck] { [MPinCheck()] }

    static var accountMembers: [String: Schema] { ["backend": .mpinBackendReport, "users": .mpinUsers] }

    static var events: [any ReportedEvent.Type] { [MPinEvent.self] }

    static var statusMembers: [String: Schema] {
        [
            "mpin": .object(
                [
                    "backends": .integer("accounts at M-Pin back ends"), "users": .integer("of all of them"),
                    "registered": .integer("users who can log in"), "blocked": .integer("users who cannot any more"),
                ], required: ["backends", "users", "registered", "blocked"], "Where there is an M-Pin back end")
        ]
    }

    var accountKinds: [any AccountKind] { [kind] }

    func examine(into state: inout AgentState) async throws {
        state.found[MPinCheck.name] = .array(try await kind.reports())
    }

    func services() -> [any Service] {
        let path = host.settings[Self.keypad]
        guard !path.isEmpty else { return [] }
        let service = KeypadService(keypad: Keypad(path: path), prompts: host.prompts)
        return [host.restarting("keypad") { try await service.run() }]
    }

    func status() async throws -> [String: JSON] {
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
