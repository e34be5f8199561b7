import AgentCore
import Groundwork

/// Warns when an account at an OAuth server cannot get a token without a person, or its newest request failed.
struct OAuthAccountsCheck: HealthCheck {
    static let name = "oauth-accounts"

    func run(_ agent: AgentState) -> Verdict {
        let accounts = agent.found[Self.name]?.array ?? []
        guard !accounts.isEmpty else { return .skip("there is none") }
        for account in accounts {
            let name = account["name"]?.string ?? "?"
            if account["needsPerson"]?.bool == true {
                return .warn("no user is logged in at \(name)", remedy: "log in: latchkey login --account \(name)")
            }
            if let fault = account["lastError"] {
                return .warn(
                    "\(name): \(fault["message"]?.string ?? "it failed")",
                    remedy: fault["remedy"]?.string ?? "see: latchkey accounts show \(name)")
            }
        }
        return .pass("\(accounts.count == 1 ? "it works" : "all \(accounts.count) work"), as far as was checked")
    }
}
