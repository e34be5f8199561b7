import AgentCore
import Groundwork

/// Warns while nothing is announced to Home Assistant, or not everything.
struct HomeAssistantCheck: HealthCheck {
    static let name = "home-assistant"

    func run(_ agent: AgentState) -> Verdict {
        guard let found = agent.found[Self.name], let prefix = found["prefix"]?.string else {
            return .skip("home_assistant.enabled is false")
        }
        guard let entities = found["entities"]?.integer else {
            return .warn(
                "nothing has been announced at \(prefix)",
                remedy: "connect the board to the broker that Home Assistant uses: latchkey status says whether it is")
        }
        let leftOut = found["leftOut"]?.integer ?? 0
        guard leftOut == 0 else {
            return .warn(
                "\(entities) entities announced at \(prefix); \(leftOut) more had no room",
                remedy: "let programs report fewer readings, or raise outbox.payload_limit_bytes if it is below 65536")
        }
        return .pass("\(entities) entities announced at \(prefix)")
    }
}
