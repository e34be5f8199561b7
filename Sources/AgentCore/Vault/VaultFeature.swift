import FoundationEssentials
import Glibc
import Groundwork
import LocalAPI
import Settings
import Vault

/// The keys that open the vault.
package struct VaultFeature: Feature {
    package let host: Host
    let exports = ExportDesk()

    package init(_ host: Host) { self.host = host }

    package static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        root.table("vault") { table in
            table.choices("slot", &configuration.vault.slots, VaultSettings.Slot.allCases.map { ($0.rawValue, $0) })
            table.string("credential", &configuration.vault.credential, .plainName)
            table.string("passphrase_file", &configuration.vault.passphraseFile, .absolutePathOrEmpty)
            table.string("development_key_file", &configuration.vault.developmentKeyFile, .absolutePathOrEmpty)
            table.choice("export", &configuration.vault.export, VaultSettings.Export.allCases.map { ($0.rawValue, $0) })
            table.choice(
                "rollback", &configuration.vault.rollback, VaultSettings.Rollback.allCases.map { ($0.rawValue, $0) })
        }
        root.table("pkcs11") { token in
            token.string("module", &configuration.vault.token.module, .absolutePathOrEmpty)
            token.string("uri", &configuration.vault.token.uri, .tokenURIOrEmpty)
            token.string("pin_credential", &configuration.vault.token.pinCredential, .plainName)
            token.string("pin_file", &configuration.vault.token.pinFile, .absolutePathOrEmpty)
        }
        root.table("tpm") { tpm in
            tpm.string("tcti", &configuration.vault.tpm.connection, .notEmpty)
            tpm.integers("pcrs", &configuration.vault.tpm.registers, in: TPMSettings.registers)
        }
        root.table("identity") { table in
            table.string("key", &configuration.identity.key, .keyPlace)
            table.choice("algorithm", &configuration.identity.kind, KeyChoice.Kind.allCases.map { ($0.rawValue, $0) })
        }
    }

    package static var checks: [any HealthCheck] { [TPMCheck(), TokenCheck()] }

    package func examine(into state: inout AgentState) async throws {
        let isGuard = try await host.guardsVault()
        state.hardware = await host.hardware.findings(usesChip: isGuard ? true : try await host.usesChip())
    }

    package func warnings() async throws -> [String] {
        try await host.vault.openedBy().kind.isDevelopment
            ? ["the vault is opened by a development key file, which does not protect it"] : []
    }

    /// Removes what a power cut has left of an export.
    package func prepare() { unlink(exportPath) }

    package func services() -> [any Service] { host.hardware.hasToken ? [rekeying, sweeping] : [rekeying] }

    /// What the last start has cut off.
    private var rekeying: any Service {
        host.restarting("rekeying") {
            guard try await self.host.vault.isRekeying() else { return }
            _ = try await self.rekey { try await self.host.vault.continueRekeying() }
        }
    }

    /// Nothing of a key is left in a TPM.
    private var sweeping: any Service {
        host.restarting("hardware keys") {
            do {
                try await self.host.vault.sweepHardware()
            } catch {
                // A token that is not there now is asked at the next start; damage is what doctor reports.
            }
        }
    }

    /// The keys that the settings name, as far as they are there.
    package func keys() -> (keys: [any SlotKey], fault: (any Error)?) {
        host.settings.vault.keys(
            hardware: host.hardware, stateDirectory: host.settings.stateDirectory,
            environment: ProcessInfo.processInfo.environment)
    }

    /// The key of the slot that opened the vault.
    func keyInUse() async throws -> any SlotKey {
        let kind = try await host.vault.openedBy().kind
        let (keys, fault) = keys()
        if let key = keys.first(where: { $0.kind == kind }) { return key }
        throw fault ?? VaultError.noSlotOpens(path: host.vault.path, tried: keys.map(\.kind))
    }

    /// Seals all records with a new key.
    func rekey(_ body: () async throws -> Vault.Rekeying) async throws -> Vault.Rekeying {
        let done = try await body()
        host.report(VaultEvent.rekeyed(records: done.moved))
        return done
    }

    package static var errors: [any Explained.Type] {
        [
            VaultError.self, VaultCopyError.self, ChipError.self, TokenError.self, ExportError.self, PasscodeError.self,
        ]
    }

    package static var events: [any ReportedEvent.Type] { [VaultEvent.self] }
}
