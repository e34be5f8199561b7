import Groundwork
import Vault

/// Fails when the vault's file is an earlier copy, or the counter that shows it is gone; warns while the TPM does not
/// answer.
package struct RollbackCheck: HealthCheck {
    package static let name = "vault-rollback"

    package init() {}

    package func run(_ agent: AgentState) -> Verdict {
        switch agent.rollback {
        case .unknown: .skip("the sealed store is not open")
        case .notGuarded: .pass("not guarded: no counter in a TPM would show that an earlier copy was put back")
        case .guarded: .pass("guarded by a counter in the TPM")
        case .fault(.rollback(let fault)): .fail(fault.message, remedy: fault.remedy ?? "see: latchkey status")
        case .fault(let fault):
            .warn(
                "cannot be compared with the TPM's counter: \(fault.message)",
                remedy: fault.remedy ?? "see: latchkey status")
        }
    }
}

/// What is known of the guard against earlier copies of the vault.
package enum RollbackFinding: Sendable, Equatable {
    case unknown
    case notGuarded
    case guarded
    case fault(VaultError)
}

extension AgentState {
    package var rollback: RollbackFinding {
        get { self[RollbackFinding.self, default: .unknown] }
        set { self[RollbackFinding.self, default: .unknown] = newValue }
    }
}
