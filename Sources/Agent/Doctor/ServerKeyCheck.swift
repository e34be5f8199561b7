import HTTPClient

/// Fails when the gateway does not prove that it is the one the board enrolled at.
struct ServerKeyCheck: HealthCheck {
    static let name = "pin"

    func run(_ agent: AgentState) -> Verdict {
        switch agent.probe {
        case .failure(.tls(let host, let refusal)):
            return .fail("\(host) is not trusted: \(refusal)",
                remedy: "if the gateway's key was changed, enroll again with a new URL; else somebody is in between")
        case .success: return .pass("the gateway has the key that the configuration demands")
        default: return .pass("not reached, nothing to compare")
        }
    }
}
