import Groundwork

/// What happens to the vault.
package enum VaultEvent: ReportedEvent {
    case setAside(path: String)
    case rekeyed(records: Int)

    package static let meanings = [
        "vault.rekeyed": "every record of the vault is sealed with a new key, and the former key is gone",
        "vault.set-aside": "the vault was damaged and is kept under another name; the board must be enrolled again",
    ]

    package var report: EventReport {
        switch self {
        case .setAside(let path):
            EventReport(
                "vault.set-aside", .trouble,
                "the vault was damaged and is kept as \(path); the board must be enrolled again")
        case .rekeyed(let records):
            EventReport(
                "vault.rekeyed", .notable, "the vault is sealed with a new key", ["records": .integer(Int64(records))])
        }
    }
}
