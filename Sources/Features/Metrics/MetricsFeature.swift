import AgentCore
import AgentGateway
import AgentMessages
import FoundationEssentials
import Groundwork
import LocalAPI
import Settings
import Synchronization

/// The table `[metrics]`.
struct MetricsSettings: TypedValue {
    /// Address and port; empty: none.
    var listen = ""
    var beyondLoopback = false
    /// Names of the board that requests may be sent to.
    var names: [String] = []
    var tokenFile = ""
    var credential = "latchkey-metrics"
    /// As which requests with the token count; empty: for figures only.
    var user = ""
}

/// Figures of the agent that other tools can read: over the local API, and over a listener on TCP if the settings have
/// one.
package final class MetricsFeature: Feature {
    private enum ListenerState {
        /// Not started yet, as while the vault cannot be opened.
        case idle
        case listening
        case failed(Explanation)
    }
    private let state = Mutex(ListenerState.idle)

    let host: Host
    let gateways: GatewayAccounts
    let broker: BoardBroker
    let brokers: BrokersFeature

    package static var errors: [any Explained.Type] { [MetricsError.self] }

    package init(_ host: Host) {
        self.host = host
        gateways = host.feature(GatewayFeature.self).gateways
        broker = host.feature(MessagesFeature.self).broker
        brokers = host.feature(BrokersFeature.self)
    }

    /// The figures say that the vault is locked, while it is.
    package static var needsVault: Bool { false }

    package static func compare(with machine: inout MachineComparison) {
        guard !machine.configuration[MetricsSettings.self].listen.isEmpty else { return }
        let path = machine.configuration[MetricsSettings.self].tokenFile
        if !path.isEmpty { machine.compareKeyFile("metrics.token_file", path, isMadeWhenMissing: false) }
        let user = machine.configuration[MetricsSettings.self].user
        guard !user.isEmpty, !AccessPolicy.knows(user) else { return }
        machine.fail(
            "metrics.user", "this machine does not know \(user)",
            fix: "write a user's name that getent(1) finds")
    }

    package static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        root.table("metrics") { table in
            table.string("listen", &configuration[MetricsSettings.self].listen, .any)
            table.flag("beyond_loopback", &configuration[MetricsSettings.self].beyondLoopback)
            table.strings("names", &configuration[MetricsSettings.self].names)
            if configuration[MetricsSettings.self].names.contains(where: {
                $0.isEmpty || $0.contains("/") || $0.contains(":")
            }) {
                table.note("names", "has what is not a host name", fix: "write names without scheme and port")
            }
            table.string("token_file", &configuration[MetricsSettings.self].tokenFile, .absolutePathOrEmpty)
            table.string("credential", &configuration[MetricsSettings.self].credential, .plainName)
            table.string("user", &configuration[MetricsSettings.self].user, .any)
            let listen = configuration[MetricsSettings.self].listen
            guard !listen.isEmpty else { return }
            guard let address = ListenAddress(listen), !address.isWildcard else {
                return table.note(
                    "listen", "is not one numeric address with a port", fix: "write it as 127.0.0.1:9464 or [::1]:9464")
            }
            if !address.isLoopback, !configuration[MetricsSettings.self].beyondLoopback {
                table.note(
                    "listen", "is an address that other machines reach",
                    fix: "use 127.0.0.1, or set beyond_loopback to true")
            }
        }
    }

    package func addRoutes(to router: inout Router) { addMetricsRoute(to: &router) }

    package func services() -> [any Service] {
        guard !host.settings[MetricsSettings.self].listen.isEmpty else { return [] }
        return [
            host.restarting("metrics listener") { [self] in
                do {
                    let environment = ProcessInfo.processInfo.environment
                    let server = try MetricsListener(host.settings, environment: environment).start(self)
                    state.withLock { $0 = .listening }
                    await server.run()
                } catch {
                    state.withLock { $0 = .failed(Explanation(of: error)) }
                    throw error
                }
            }
        ]
    }

    package static var checks: [any HealthCheck] { [MetricsListenerCheck()] }

    package func examine(into state: inout AgentState) async throws {
        let listen = host.settings[MetricsSettings.self].listen
        guard !listen.isEmpty else { return }
        var found: [String: JSON] = ["listen": .string(listen)]
        switch self.state.withLock({ $0 }) {
        case .idle: found["idle"] = true
        case .failed(let fault): found["fault"] = .object(fault.members)
        case .listening:
            let listener = try? MetricsListener(host.settings, environment: ProcessInfo.processInfo.environment)
            found["weak"] = .array((listener?.weaknesses ?? []).map(JSON.string))
        }
        state.found[MetricsListenerCheck.name] = .object(found)
    }
}
