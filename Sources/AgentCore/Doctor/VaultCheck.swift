import Groundwork
import Vault

/// Fails when the vault or a record of it cannot be read; warns when its key is stored beside it.
package struct VaultCheck: HealthCheck {
    package static let name = "vault"

    package init() {}

    package func run(_ agent: AgentState) -> Verdict {
        if let fault = agent.vaultFaults.first, agent.vaultSlot == nil {
            return .fail(fault.message, remedy: fault.remedy ?? "see: latchkey status")
        }
        if let fault = agent.vaultFaults.first {
            return .fail(
                agent.vaultFaults.count == 1
                    ? "a record cannot be read: \(fault.message)"
                    : "\(agent.vaultFaults.count) records cannot be read; the first: \(fault.message)",
                remedy: fault.remedy ?? "reset the identity with: latchkey reset, then register the board again")
        }
        guard agent.vaultSlot?.isDevelopment != true else {
            return .warn(
                "opened by a development key file, which anyone who copies the disk also gets",
                remedy: "set vault.slot to systemd-credential for a board in the field")
        }
        return .pass("opened by its \(agent.vaultSlot?.rawValue ?? "key")")
    }
}
