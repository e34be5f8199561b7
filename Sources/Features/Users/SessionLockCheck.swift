import AgentCore
import Groundwork

/// Warns when a locked session cannot be unlocked, or its tokens still work at the gateway.
struct SessionLockCheck: HealthCheck {
    static let name = "session-lock"

    func run(_ agent: AgentState) -> Verdict {
        let found = agent.found["locks"]
        let users = (found?["users"]?.array ?? []).compactMap(\.string)
        guard !users.isEmpty else { return .pass("no user's session is locked") }
        let text = "locked: the session of " + users.map { DisplayText.clean($0) }.joined(separator: " and of ")
        if found?["lacksButton"]?.bool == true {
            return .warn(
                "\(text); unlocking requires a press of the board's button, and there is none",
                remedy: "name a button in the board definition, or set needs_button of [lock] to false")
        }
        if found?["leftOver"]?.bool == true {
            return .warn(
                "\(text); the gateway has not revoked the user's tokens yet",
                remedy: "it is tried again when the gateway can be reached")
        }
        return .pass(text)
    }
}
