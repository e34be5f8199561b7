import Board
import FoundationEssentials
import Groundwork
import LocalAPI
import Settings

/// Enrollment without hands: what waits for the agent at its start in a file or a credential, or is shown to a scanner.
struct FirstBootFeature: Feature {
    static let file = Setting("enrollment.file", preset: EnrollmentFile.usual)
    static let scanner = Setting("enrollment.scanner", preset: "")
    static let helper = Setting("enrollment.helper", preset: FirstBootHelper.socket)

    init(_ host: Host) {}

    static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        root.table("enrollment") { table in
            table.string("file", &configuration[Self.file], .absolutePathOrEmpty)
            table.string("scanner", &configuration[Self.scanner], .any)
            table.string("helper", &configuration[Self.helper], .absolutePathOrEmpty)
        }
    }

    static var checks: [any HealthCheck] { [FirstBootCheck()] }

    func examine(_ agent: Agent, into state: inout AgentState) async throws {
        state.found[FirstBootCheck.name] = agent.firstBoot.now?.json
    }

    func services(of agent: Agent) -> [any Service] {
        let credentials = ProcessInfo.processInfo.environment["CREDENTIALS_DIRECTORY"]
        return [
            agent.restarting("enrollment") { try await FirstBootService(agent: agent, credentials: credentials).run() }
        ]
    }

    static var statusMembers: [String: Schema] { ["enrollment": FirstBootProgress.schema] }

    func status(of agent: Agent) async throws -> [String: JSON] {
        agent.firstBoot.now.map { ["enrollment": $0.json] } ?? [:]
    }

    func warnings(of agent: Agent) async throws -> [String] {
        guard let message = agent.firstBoot.now?.problem?["message"]?.string else { return [] }
        return [message]
    }

    static var events: [any ReportedEvent.Type] { [FirstBootEvent.self] }
}
