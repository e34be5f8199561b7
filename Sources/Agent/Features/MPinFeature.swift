import Board
import Groundwork
import LocalAPI
import Settings

/// Users of M-Pin back ends, who log in with a PIN that is stored nowhere.
struct MPinFeature: Feature {
    static let keypad = Setting("mpin.keypad", preset: "")

    func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        root.table("mpin") { $0.string("keypad", &configuration[Self.keypad], .absolutePathOrEmpty) }
    }

    func addRoutes(to router: inout Router, of agent: Agent) { agent.addMPinRoutes(to: &router) }

    var checks: [any HealthCheck] { [MPinCheck()] }

    func examine(_ agent: Agent, into state: inout AgentState) async throws {
        state.found[MPinCheck.name] = .array(try await agent.mpinReports())
    }

    func services(of agent: Agent) -> [any Service] {
        let path = agent.configuration[Self.keypad]
        guard !path.isEmpty else { return [] }
        let service = KeypadService(keypad: Keypad(path: path), prompts: agent.prompts)
        return [agent.restarting("keypad") { try await service.run() }]
    }

    var statusMembers: [String: Schema] {
        [
            "mpin": .object(
                [
                    "backends": .integer("accounts at M-Pin back ends"), "users": .integer("of all of them"),
                    "registered": .integer("users who can log in"), "blocked": .integer("users who cannot any more"),
                ], required: ["backends", "users", "registered", "blocked"], "Where there is an M-Pin back end")
        ]
    }

    func status(of agent: Agent) async throws -> [String: JSON] {
        let accounts = try await agent.mpinReports()
        guard !accounts.isEmpty else { return [:] }
        let states = accounts.flatMap { $0["users"]?.array ?? [] }.compactMap { $0["state"]?.string }
        func count(_ state: String) -> JSON { .integer(Int64(states.count { $0 == state })) }
        return [
            "mpin": [
                "backends": .integer(Int64(accounts.count)), "users": .integer(Int64(states.count)),
                "registered": count("REGISTERED"), "blocked": count("BLOCKED"),
            ]
        ]
    }

    var events: [any ReportedEvent.Type] { [MPinEvent.self] }
}
