import AgentCore
import HTTPClient

/// Fails when the gateway's host name has no address.
package struct NameResolutionCheck: HealthCheck {
    package static let name = "dns"

    package func run(_ agent: AgentState) -> Verdict {
        guard let host = agent.gateway.host else { return .skip("no gateway to look up yet") }
        if case .failure(.cannotResolve) = agent.gateway.probe {
            return .fail(
                "\(host) has no address",
                remedy: "check /etc/resolv.conf and the name server of this network: getent ahosts \(host)")
        }
        return .pass("\(host) is found")
    }
}
