import AgentCore
import Cryptography
import Groundwork

/// Warns of settings that make the board trust what it could verify.
package struct WeakSettingsCheck: HealthCheck {
    package static let name = "weak-settings"

    package func run(_ agent: AgentState) -> Verdict {
        let faults = agent.found[Self.name]?.array?.compactMap(\.string) ?? []
        guard !faults.isEmpty else { return .pass("everything that can be verified is verified") }
        return .warn(
            faults.joined(separator: "; "), remedy: "remove these settings, unless the gateway requires them")
    }
}

extension AgentConfiguration {
    /// The settings that weaken verification, each with its consequence.
    package var weakSettings: [String] {
        var faults: [String] = []
        if !self[GatewaySettings.self].verifiesIDTokens {
            faults.append("gateway.verify_id_tokens is false: the signatures of id_tokens are not verified")
        }
        if gateway.nameCheck == .off {
            faults.append("gateway.name_check is off: certificates need not name their servers")
        }
        if !self[LoginSettings.self].keepUserOnError {
            faults.append(
                "login.keep_user_on_error is false: a logout ends here even if the session continues at the gateway")
        }
        return faults
    }
}
