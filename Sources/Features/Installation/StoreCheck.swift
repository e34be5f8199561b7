import AgentCore
import Vault

/// Fails when the sealed store is damaged, or has no slot of the kind that the settings name. Nothing sealed is opened.
package struct StoreCheck: InstallationCheck {
    package static let name = VaultCheck.name

    package func run(_ installation: Installation) -> Verdict? {
        guard let settings = installation.settings else { return nil }
        switch installation.store {
        case .skipped(let reason): return .skip("not examined: \(reason)")
        case .missing: return .pass("there is none yet; it is made when the agent starts")
        case .faulty(let message):
            return .fail(
                message,
                remedy: "restore the state directory from a copy; without one the agent sets a damaged store aside, "
                    + "and the board is enrolled again")
        case .sealed(let slots):
            let named = settings.vault.slots.map(\.kind)
            let list = named.map(\.rawValue).joined(separator: " or ")
            let fitting = slots.filter { named.contains($0.kind) }
            guard !fitting.isEmpty else {
                let kinds = slots.map(\.kind.rawValue).joined(separator: ", ")
                return .fail(
                    "it has no slot of kind \(list), only: \(kinds)",
                    remedy: "set vault.slot to one of these, or restore the settings that the store was used with")
            }
            guard fitting.contains(where: { !$0.isDamaged }) else {
                return .fail(
                    "its slot of kind \(list) is damaged",
                    remedy: "restore the state directory from a copy, or let another slot open it: vault.slot")
            }
            return .pass("intact, and has a slot of kind \(list); whether the key fits was not checked")
        }
    }
}
