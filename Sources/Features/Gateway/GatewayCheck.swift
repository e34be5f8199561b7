import AgentCore
import Groundwork
import HTTPClient

/// Fails when the gateway does not answer; warns when it answers with an error, or when the board is not enrolled.
package struct GatewayCheck: HealthCheck {
    package static let name = "gateway"
    /// The finding whether a person has stopped what talks to the gateway.
    package static let stopped = "gateway-stopped"
    /// The finding whether the board's messages go to a broker without a gateway.
    package static let isNotNeeded = "gateway-not-needed"

    package func run(_ agent: AgentState) -> Verdict {
        guard !agent.gatewayIsStopped else {
            return .warn(
                "the gateway connection is stopped; messages wait on this board",
                remedy: "start it: latchkey gateway start")
        }
        guard let host = agent.gateway.host, let probe = agent.gateway.probe else {
            guard agent.found[Self.isNotNeeded]?.bool != true else { return .skip("the board's broker needs none") }
            return .warn("this board is not enrolled", remedy: "enroll it: latchkey enroll - < url.txt")
        }
        switch probe {
        case .success(let status) where (200..<300).contains(status): return .pass("\(host) answers")
        case .success(let status):
            return .warn("\(host) answers with status \(status)", remedy: "ask the gateway's administrator")
        // The server's key has its own check.
        case .failure(.tls): return .pass("\(host) is reachable")
        case .failure(let error): return .fail(error.message, remedy: error.remedy ?? "check the network")
        }
    }
}

extension AgentState {
    package var gatewayIsStopped: Bool { found[GatewayCheck.stopped]?.bool == true }
}
