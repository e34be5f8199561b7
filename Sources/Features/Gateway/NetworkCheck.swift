import AgentCore
import Connectivity
import Groundwork

/// Fails when no link has a carrier and an address; is skipped where that cannot be told, as
/// everything works without.
package struct NetworkCheck: HealthCheck {
    package static let name = "network"

    package func run(_ agent: AgentState) -> Verdict {
        switch agent.network {
        case .way(let way): return .pass("reached through \(way)")
        case .none where agent.gateway.host.map(NetworkWatch.isOfThisMachine) == true:
            return .pass("none, and the gateway is on this machine")
        case .none:
            let error = NetworkError.noNetwork.explanation
            return .fail(error.message, remedy: error.remedy ?? "")
        case .unknown(let error?): return .skip(error.message)
        case .unknown(nil): return .skip("not watched yet")
        }
    }
}
