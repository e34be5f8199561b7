import Groundwork
import Vault

/// What happens to the vault.
package enum VaultEvent: ReportedEvent {
    case setAside(path: String)
    case rekeyed(records: Int)
    /// By a slot of another kind than the one that the settings name first.
    case openedByAnother(slot: Int64, kind: Slot.Kind)

    package static let meanings = [
        "vault.rekeyed": "every record of the vault is sealed with a new key, and the former key is gone",
        "vault.slot-opened": "a slot opened the vault whose kind the settings do not name first",
        "vault.set-aside": "the vault was damaged and is kept under another name; the board must be enrolled again",
    ]

    package var report: EventReport {
        switch self {
        case .setAside(let path):
            EventReport(
                "vault.set-aside", .trouble,
                "the vault was damaged and is kept as \(path); the board must be enrolled again")
        case .openedByAnother(let slot, let kind):
            EventReport(
                "vault.slot-opened", .trouble, "slot \(slot) (\(kind)) opened the vault, not the first in the settings",
                ["slot": .integer(slot), "kind": .string(kind.rawValue)])
        case .rekeyed(let records):
            EventReport(
                "vault.rekeyed", .notable, "the vault is sealed with a new key", ["records": .integer(Int64(records))])
        }
    }
}
