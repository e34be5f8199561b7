import Groundwork
import LocalAPI
import Vault

/// What happens to the vault.
package enum VaultEvent: ReportedEvent {
    case setAside(path: String)
    case rekeyed(records: Int)
    case exported(records: Int, withIdentity: Bool)
    case restored(records: Int, keys: Int)
    case damageFound(faults: Int, first: VaultFault)
    /// By a slot of another kind than the one that the settings name first.
    case openedByAnother(slot: Int64, kind: Slot.Kind)
    case rolledBack(RollbackError)

    package static let meanings = [
        "vault.damage-found": "a check of the whole vault found damage",
        "vault.exported": "a copy of the vault was made that a passphrase opens, with or without the board's identity",
        "vault.rekeyed": "every record of the vault is sealed with a new key, and the former key is gone",
        "vault.restored": "the vault has the records of an export, and the agent starts again with them",
        "vault.slot-opened": "a slot opened the vault whose kind the settings do not name first",
        "vault.rolled-back": "the vault is an earlier copy, or the counter that shows this is gone from the TPM",
        "vault.set-aside": "the vault was damaged and is kept under another name; the board must be enrolled again",
    ]

    package static var details: [String: Schema] {
        [
            "records": .integer("how many records it was"), "keys": .integer("how many of them are private keys"),
            "withIdentity": .boolean("whether the export has the board's identity"),
            "faults": .integer("how much is damaged"), "first": .string("the first of it"),
            "slot": .integer("number of the slot"), "kind": .string("what opens it"),
            "code": .string("of the error, such as vault.counter-missing"),
        ]
    }

    package var report: EventReport {
        switch self {
        case .setAside(let path):
            EventReport(
                "vault.set-aside", .trouble,
                "the vault was damaged and is kept as \(path); the board must be enrolled again")
        case .rolledBack(let fault):
            EventReport("vault.rolled-back", .trouble, fault.message, ["code": .string(fault.code)])
        case .openedByAnother(let slot, let kind):
            EventReport(
                "vault.slot-opened", .trouble, "slot \(slot) (\(kind)) opened the vault, not the first in the settings",
                ["slot": .integer(slot), "kind": .string(kind.rawValue)])
        case .exported(let records, let withIdentity):
            EventReport(
                "vault.exported", .notable,
                "the vault was exported \(withIdentity ? "with" : "without") the board's identity",
                ["records": .integer(Int64(records)), "withIdentity": .bool(withIdentity)])
        case .restored(let records, let keys):
            EventReport(
                "vault.restored", .notable, "the vault was restored from an export, and the agent starts again",
                ["records": .integer(Int64(records)), "keys": .integer(Int64(keys))])
        case .damageFound(let faults, let first):
            EventReport(
                "vault.damage-found", .trouble, "the vault is damaged: \(first)",
                ["faults": .integer(Int64(faults)), "first": .string(first.description)])
        case .rekeyed(let records):
            EventReport(
                "vault.rekeyed", .notable, "the vault is sealed with a new key", ["records": .integer(Int64(records))])
        }
    }
}
