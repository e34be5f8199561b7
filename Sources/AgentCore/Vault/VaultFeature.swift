import FoundationEssentials
import Groundwork
import LocalAPI
import Settings
import Vault

/// The keys that open the vault.
package struct VaultFeature: Feature {
    package let host: Host

    package init(_ host: Host) { self.host = host }

    package static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        root.table("vault") { table in
            table.choice("slot", &configuration.vault.slot, VaultSettings.Slot.allCases.map { ($0.rawValue, $0) })
            table.string("credential", &configuration.vault.credential, .plainName)
            table.string("passphrase_file", &configuration.vault.passphraseFile, .absolutePathOrEmpty)
            table.string("development_key_file", &configuration.vault.developmentKeyFile, .absolutePathOrEmpty)
        }
    }

    package func warnings() async throws -> [String] {
        try await host.vault.openedBy().kind.isDevelopment
            ? ["the vault is opened by a development key file, which does not protect it"] : []
    }

    package func services() -> [any Service] {
        [
            // What the last start has cut off.
            host.restarting("rekeying") {
                guard try await self.host.vault.isRekeying() else { return }
                _ = try await self.rekey { try await self.host.vault.continueRekeying() }
            }
        ]
    }

    /// The key that the settings name.
    func key() throws -> any SlotKey {
        try host.settings.vault.key(
            stateDirectory: host.settings.stateDirectory, environment: ProcessInfo.processInfo.environment)
    }

    /// Seals all records with a new key.
    func rekey(_ body: () async throws -> Vault.Rekeying) async throws -> Vault.Rekeying {
        let done = try await body()
        host.report(VaultEvent.rekeyed(records: done.moved))
        return done
    }

    package static var errors: [any Explained.Type] { [VaultError.self] }

    package static var events: [any ReportedEvent.Type] { [VaultEvent.self] }
}
