import FoundationEssentials
import Groundwork
import LocalAPI
import Logging
import Messaging
import Settings
import Vault

/// The agent itself: its version, its status and the doctor, also while the vault cannot be opened.
struct AgentFeature: Feature {
    init(_ host: Host) {}

    static var needsVault: Bool { false }

    static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        root.table("agent") { table in
            table.string("state_directory", &configuration.stateDirectory, .absolutePath)
            table.choice("log_level", &configuration.logLevel, Logger.Level.allCases.map { ("\($0)", $0) })
        }
        root.table("api") { table in
            table.string("socket", &configuration.api.socket, .absolutePath)
            table.string("group", &configuration.api.group, .any)
            table.strings("read", &configuration.api.read)
            table.strings("publish", &configuration.api.publish)
            table.strings("operate", &configuration.api.operate)
        }
    }

    func addRoutes(to router: inout Router, of agent: Agent) { agent.addStatusRoutes(to: &router) }

    static var checks: [any HealthCheck] { [ClockCheck(), VaultCheck(), StorageCheck()] }

    func examine(_ agent: Agent, into state: inout AgentState) async throws {
        state.clockFile = agent.time.path
        if let fault = agent.vaultFault {
            state.vaultFaults = [fault]
        } else {
            state.vaultSlot = try await agent.vault.openedBy().kind
            state.vaultFaults = try await agent.vault.faults()
        }
        state.diskTrouble = StateDirectory.trouble(in: agent.configuration.stateDirectory)
        state.setAside = StateDirectory.setAside(in: agent.configuration.stateDirectory)
    }

    static var statusMembers: [String: Schema] {
        [
            "version": .string("of the agent"), "time": .time("of the board's clock, or the best that is known"),
            "uptime": .integer("of the agent, in seconds"),
            "hostName": .string("of the board"),
            "warnings": .array(of: .string("for people"), "what should be changed, though everything works"),
            "setAside": .array(of: .string("file name"), "what was damaged and is kept"),
            "vault": .object(
                ["error": .problem], required: ["error"], "While the sealed store cannot be opened"),
            "lastError": .lastError,
        ]
    }

    func status(of agent: Agent) async throws -> [String: JSON] {
        var members: [String: JSON] = [
            "version": .string(Version.text), "time": .string(agent.time.now.formatted(.iso8601)),
            "uptime": .integer((ContinuousClock.now - agent.started).components.seconds),
            "hostName": .string(DisplayText.clean(ProcessInfo.processInfo.hostName)),
        ]
        let setAside = StateDirectory.setAside(in: agent.configuration.stateDirectory)
        if !setAside.isEmpty { members["setAside"] = .array(setAside.map(JSON.string)) }
        if let trouble = agent.lastTrouble { members["lastError"] = trouble.json }
        if let fault = agent.vaultFault {
            members["vault"] = ["error": .object(fault.explanation)]
            members["lastError"] = .object(fault.explanation)
            members["registration"] = ["state": "unknown"]
            members["start"] = .object(StartState.notInitialized.members)
        }
        return members
    }

    func warnings(of agent: Agent) async throws -> [String] {
        var warnings: [String] = []
        if let trouble = StateDirectory.trouble(in: agent.configuration.stateDirectory) { warnings.append(trouble) }
        if !agent.time.isPlausible { warnings.append("the clock is wrong; the newest time known stands for it") }
        return warnings
    }

    static var events: [any ReportedEvent.Type] { [ServiceEvent.self] }
}
