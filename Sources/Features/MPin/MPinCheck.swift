import AgentCore
import Groundwork

/// Looks at the states of M-Pin users as they are stored; no back end is asked.
struct MPinCheck: HealthCheck {
    static let name = "mpin"

    func run(_ agent: AgentState) -> Verdict {
        let accounts = agent.found[Self.name]?.array ?? []
        guard !accounts.isEmpty else { return .skip("there is no M-Pin back end") }
        var count = 0
        var waiting: (user: String, account: String)?
        for account in accounts {
            let name = account["name"]?.string ?? "?"
            if let fault = account["lastError"] {
                return .fail(
                    "\(name): \(fault["message"]?.string ?? "it cannot be used")",
                    remedy: fault["remedy"]?.string ?? "see: latchkey accounts show \(name)")
            }
            for user in account["users"]?.array ?? [] {
                let id = DisplayText.clean(user["user"]?.string ?? "?")
                switch user["state"]?.string {
                case "BLOCKED":
                    return .warn(
                        "\(id) is blocked at \(name)",
                        remedy: "delete the user, and register again: latchkey mpin user delete")
                case "REGISTERED": count += 1
                default: waiting = waiting ?? (id, name)
                }
            }
        }
        if let waiting {
            return .warn(
                "the registration of \(waiting.user) at \(waiting.account) is not finished",
                remedy: "continue it: latchkey mpin register confirm")
        }
        return .pass("\(count == 1 ? "1 user is" : "\(count) users are") registered, according to this board")
    }
}
