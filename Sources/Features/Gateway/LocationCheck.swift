import AgentCore
import Groundwork

/// Warns when calls should say where the board is, and it does not know. Does not say where.
package struct LocationCheck: HealthCheck {
    package static let name = "location"

    package func run(_ agent: AgentState) -> Verdict {
        guard let found = agent.found[Self.name] else { return .skip("the settings do not disclose it") }
        guard let fault = found["fault"] else {
            return .pass("it is known, from location.source = \"\(found["source"]?.string ?? "")\"")
        }
        return .warn(
            fault["message"]?.string ?? "it is not known", remedy: fault["remedy"]?.string ?? "see: latchkey location")
    }
}
