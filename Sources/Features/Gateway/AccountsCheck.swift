import AgentCore
import FoundationEssentials
import Gateway
import Groundwork

/// Fails when the stored records of an account cannot be used, or the certificate of one other than the default has
/// expired; warns when such an account is not registered or awaits activation, or its gateway has a problem.
package struct AccountsCheck: HealthCheck {
    package static let name = "accounts"

    package func run(_ agent: AgentState) -> Verdict {
        if let (name, fault) = agent.gateway.unusableAccount {
            return .fail(
                "the stored data of \(name) cannot be used: \(fault.message)",
                remedy: "enroll it again: latchkey enroll --account \(name) -; "
                    + "or remove it: latchkey accounts remove \(name)")
        }
        guard !agent.gateway.otherAccounts.isEmpty else {
            return .skip("no account besides the default one is at a gateway")
        }
        for account in agent.gateway.otherAccounts {
            if let end = account.certificateEnd, end < agent.now {
                return .fail(
                    "the certificate of \(account.name) expired \(end.formatted(.iso8601))",
                    remedy: "renew it with: latchkey renew --account \(account.name)")
            }
        }
        for account in agent.gateway.otherAccounts {
            guard account.registration != .pending else {
                return .warn(
                    "\(account.name) awaits activation",
                    remedy: "ask the gateway's administrator to activate it; until then it cannot be used")
            }
            guard account.registration == .registered else {
                return .warn(
                    "\(account.name) is not registered",
                    remedy: "enroll it: latchkey enroll --account \(account.name) -; "
                        + "or remove it: latchkey accounts remove \(account.name)")
            }
            if let error = account.lastError {
                return .warn(
                    "\(account.name): \(error.message)",
                    remedy: error.remedy ?? "see: latchkey status --account \(account.name)")
            }
        }
        return .pass(
            agent.gateway.otherAccounts.count == 1
                ? "\(agent.gateway.otherAccounts[0].name) is registered"
                : "all \(agent.gateway.otherAccounts.count) at gateways besides the default one are registered")
    }
}
