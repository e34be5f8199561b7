import AgentCore
import AgentGateway
import Board
import FoundationEssentials
import Groundwork
import LocalAPI
import Settings

/// The table `[enrollment]`.
struct FirstBootSettings: TypedValue {
    var file = EnrollmentFile.usual
    var scanner = ""
    var helper = FirstBootHelper.socket
}

/// Enrollment without hands: what waits for the agent at its start in a file or a credential, or is shown to a scanner.
package struct FirstBootFeature: Feature {
    let host: Host
    let gateways: GatewayAccounts
    let progress: FirstBootState

    package init(_ host: Host) {
        self.host = host
        gateways = host.feature(GatewayFeature.self).gateways
        progress = FirstBootState { [lights = host.lights] in lights.show($0?.stage.pattern, .enrollment) }
    }

    package static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        root.table("enrollment") { table in
            table.string("file", &configuration[FirstBootSettings.self].file, .absolutePathOrEmpty)
            table.string("scanner", &configuration[FirstBootSettings.self].scanner, .any)
            table.string("helper", &configuration[FirstBootSettings.self].helper, .absolutePathOrEmpty)
        }
    }

    package static var checks: [any HealthCheck] { [FirstBootCheck()] }

    package func examine(into state: inout AgentState) async throws {
        state.found[FirstBootCheck.name] = progress.now?.json
    }

    package func services() -> [any Service] {
        let credentials = ProcessInfo.processInfo.environment["CREDENTIALS_DIRECTORY"]
        return [
            host.restarting("enrollment") { try await FirstBootService(boot: self, credentials: credentials).run() }
        ]
    }

    package static var statusMembers: [String: Schema] {
        ["enrollment": FirstBootProgress.schema("The enrollment that waited for the agent, if there was one")]
    }

    package func status() async throws -> [String: JSON] {
        progress.now.map { ["enrollment": $0.json] } ?? [:]
    }

    package func warnings() async throws -> [String] {
        guard let message = progress.now?.problem?["message"]?.string else { return [] }
        return [message]
    }

    package static var recordRules: RecordRules { RecordRules(bound: [ledger]) }

    package static var errors: [any Explained.Type] { [FirstBootError.self] }

    package static var events: [any ReportedEvent.Type] { [FirstBootEvent.self] }
}
