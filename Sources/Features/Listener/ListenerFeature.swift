import AgentCore
import AgentMetrics
import FoundationEssentials
import Groundwork
import LocalAPI
import Synchronization

/// The local API over TCP, for programs that have a token, if the settings have an address.
package final class ListenerFeature: Feature {
    private enum ListenerState {
        /// Not started yet, as while the vault cannot be opened.
        case idle
        case listening
        case failed(Explanation)
    }
    private let state = Mutex(ListenerState.idle)

    let host: Host
    let metrics: MetricsFeature

    package static var errors: [any Explained.Type] { [ListenerError.self] }

    package init(_ host: Host) {
        self.host = host
        metrics = host.feature(MetricsFeature.self)
    }

    package static var needsVault: Bool { false }

    package static func compare(with machine: inout MachineComparison) {
        let api = machine.configuration.api
        guard !api.listen.isEmpty else { return }
        if !api.tokenFile.isEmpty { machine.compareKeyFile("api.token_file", api.tokenFile, isMadeWhenMissing: false) }
        guard !api.tokenUser.isEmpty, !AccessPolicy.knows(api.tokenUser) else { return }
        machine.fail(
            "api.token_user", "\(api.tokenUser) does not exist on this machine",
            fix: "write a user's name that getent(1) finds")
    }

    package func services() -> [any Service] {
        guard !host.settings.api.listen.isEmpty else { return [] }
        return [
            host.restarting("API listener") { [self] in
                do {
                    let environment = ProcessInfo.processInfo.environment
                    let server = try TokenListener(host.settings.api, environment: environment).start(self)
                    state.withLock { $0 = .listening }
                    await server.run()
                } catch {
                    state.withLock { $0 = .failed(Explanation(of: error)) }
                    throw error
                }
            }
        ]
    }

    package static var checks: [any HealthCheck] { [ListenerCheck()] }

    package func examine(into state: inout AgentState) async throws {
        let api = host.settings.api
        guard !api.listen.isEmpty else { return }
        var found: [String: JSON] = ["listen": .string(api.listen)]
        switch self.state.withLock({ $0 }) {
        case .idle: found["idle"] = true
        case .failed(let fault): found["fault"] = .object(fault.members)
        case .listening:
            let listener = try? TokenListener(api, environment: ProcessInfo.processInfo.environment)
            found["weak"] = .array((listener?.weaknesses ?? []).map(JSON.string))
        }
        state.found[ListenerCheck.name] = .object(found)
    }
}
