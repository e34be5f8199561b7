import AgentCore
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

    let host: Host
    let gateways: GatewayAccounts
    let progress: FirstBootState

    init(_ host: Host) {
        self.host = host
        gateways = host.feature(GatewayFeature.self).gateways
        progress = FirstBootState { [lights = host.lights] in lights.show($0?.stage.pattern, .enrollment) }
    }

    static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        root.table("enrollment") { table in
            table.string("file", &configuration[Self.file], .absolutePathOrEmpty)
            table.string("scanner", &configuration[Self.scanner], .any)
            table.string("helper", &configuration[Self.helper], .absolutePathOrEmpty)
        }
    }

    static var checks: [any HealthCheck] { [FirstBootCheck()] }

    func examine(into state: inout AgentState) async throws {
        state.found[FirstBootCheck.name] = progress.now?.json
    }

    func services() -> [any Service] {
        let credentials = ProcessInfo.processInfo.environment["CREDENTIALS_DIRECTORY"]
        return [
            host.restarting("enrollment") { try await FirstBootService(boot: self, credentials: credentials).run() }
        ]
    }

    static var statusMembers: [String: Schema] { ["enrollment": FirstBootProgress.schema] }

    func status() async throws -> [String: JSON] {
        progress.now.map { ["enrollment": $0.json] } ?? [:]
    }

    func warnings() async throws -> [String] {
        guard let message = progress.now?.problem?["message"]?.string else { return [] }
        return [message]
    }

    static var errors: [any Explained.Type] { [FirstBootError.self] }

    static var events: [any ReportedEvent.Type] { [FirstBootEvent.self] }
}
