import AgentCore
import Cryptography
import HTTPClient

/// Fails when the gateway does not prove that it is the one the board enrolled at.
package struct ServerKeyCheck: HealthCheck {
    package static let name = "pin"

    package func run(_ agent: AgentState) -> Verdict {
        switch agent.gateway.probe {
        case .failure(.tls(let host, let refusal)):
            return .fail("\(host) is not trusted: \(refusal)", remedy: remedy(for: refusal))
        case .success: return .pass("the gateway's key is the one that the configuration demands")
        default: return .skip("the gateway was not reached, so there is nothing to compare")
        }
    }

    private func remedy(for refusal: TLSRefusal) -> String {
        if let remedy = refusal.remedy { return remedy }
        return switch refusal {
        case .expired, .notYetValid: "check this board's clock; if it is right, the gateway needs a new certificate"
        case .weak, .chainTooLong: "the gateway needs another certificate: ask its administrator"
        case .hostMismatch, .commonNameOnly:
            "check the host's name in the gateway's configuration; otherwise someone intercepts the connection"
        case .pinMismatch, .untrusted:
            "if the gateway's key was changed, enroll again with a new URL; otherwise someone intercepts the connection"
        }
    }
}
