import Groundwork

/// What happens to the vault.
package enum VaultEvent: ReportedEvent {
    case setAside(path: String)

    package static let meanings = [
        "vault.set-aside": "the vault was damaged and is kept under another name; the board must be enrolled again"
    ]

    package var report: EventReport {
        switch self {
        case .setAside(let path):
            EventReport(
                "vault.set-aside", .trouble,
                "the vault was damaged and is kept as \(path); the board must be enrolled again")
        }
    }
}
