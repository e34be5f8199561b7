import Cryptography
import FoundationEssentials
import Groundwork
import Vault

/// The TPM and the PKCS#11 token that the settings name. Neither is touched, and no library of theirs is loaded, before
/// it is needed.
package final class KeyHardware: Sendable {
    private let settings: VaultSettings
    private let module: TokenModule?
    /// Has the keys.
    private let keyToken: TokenKeys?
    private let slot: TokenSlot?
    private let token: Token?
    /// Whether the settings use the TPM.
    private let usesChip: Bool

    /// - Parameter environment: read for `CREDENTIALS_DIRECTORY` when a PIN is needed.
    package init(_ configuration: AgentConfiguration, environment: [String: String]) {
        settings = configuration.vault
        usesChip = configuration.vault.slots.contains(.tpm) || configuration.identity.choice.keeper == .tpm
        let (settings, identity) = (configuration.vault.token, configuration.identity)
        guard !settings.module.isEmpty else {
            (self.module, keyToken, slot, self.token) = (nil, nil, nil, nil)
            return
        }
        let (module, memory) = (
            TokenModule(path: settings.module), PINMemory(path: "\(configuration.stateDirectory)/pins")
        )
        func token(_ uri: TokenURI) -> Token {
            Token(uri, module: module, memory: memory) { () throws(VaultError) in try settings.pin(environment) }
        }
        self.module = module
        slot = settings.location.map { TokenSlot(token($0), key: $0) }
        let ofKeys = (identity.location ?? settings.location).map(token)
        self.token = ofKeys
        keyToken = ofKeys.map {
            TokenKeys($0, existing: identity.location.flatMap { $0.object == nil && $0.id == nil ? nil : $0 })
        }
    }

    /// Whether the settings name a token.
    package var hasToken: Bool { module != nil }

    /// Where keys can be that are not in the vault.
    package var keepers: [KeyReference.Keeper: any KeyKeeper] {
        var keepers: [KeyReference.Keeper: any KeyKeeper] = [.tpm: TPMKeys(settings.tpm.chip)]
        keepers[.pkcs11] = keyToken
        return keepers
    }

    /// The chip's half of a passcode, if the settings use the TPM.
    package var passcodeHardware: PasscodeHardware? { usesChip ? .tpm(settings.tpm.chip) : nil }
    package var chip: Chip { settings.tpm.chip }

    /// The key for a slot of the vault.
    package var tpmSlot: TPMSlot {
        TPMSlot(settings.tpm.chip, registers: ChipRegisters(settings.tpm.registers) ?? .none)
    }

    /// The key for a slot of the vault.
    ///
    /// - Throws: `VaultError.keeperMissing`
    package func tokenSlot() throws(VaultError) -> TokenSlot {
        guard let slot else { throw .keeperMissing(.pkcs11) }
        return slot
    }

    /// What the hardware that is in use says about itself; `nil` for what is not in use.
    ///
    /// - Parameter usesChip: whether something beside the settings uses the TPM.
    package func findings(usesChip: Bool) async -> HardwareFindings {
        await withTaskExecutorPreference(NamedThread.keys.tasks) {
            var findings = HardwareFindings()
            if usesChip { findings.chip = Result { () throws(VaultError) in try settings.tpm.chip.describe() } }
            if let token { findings.token = Result { () throws(VaultError) in try token.describe() } }
            return findings
        }
    }

    /// Ends the token's module, as it has to be before the process ends.
    package func end() { module?.finalize() }
}

/// What is found of the hardware that has keys; `nil` for what is not in use.
package struct HardwareFindings: Sendable {
    package var chip: Result<ChipDescription, VaultError>?
    package var token: Result<TokenDescription, VaultError>?

    package init() {}
}

extension AgentState {
    package var hardware: HardwareFindings {
        get { self[HardwareFindings.self, default: HardwareFindings()] }
        set { self[HardwareFindings.self, default: HardwareFindings()] = newValue }
    }
}

extension TokenSettings {
    /// The PIN, if there is one: in a file of mode 0600, or else in the credential.
    fileprivate func pin(_ environment: [String: String]) throws(VaultError) -> SecretBytes? {
        let isOurs = !pinFile.isEmpty
        guard let path = isOurs ? pinFile : environment["CREDENTIALS_DIRECTORY"].map({ "\($0)/\(pinCredential)" })
        else {
            return nil
        }
        var bytes: [UInt8]
        do {
            // systemd grants a credential by an access list, which makes it look as if a group could read it.
            bytes = try BoundedFile.read(path, limit: 256, .anything, isSecret: isOurs)
        } catch {
            guard isOurs else { return nil }
            throw .keyUnreadable(path: path, reason: error.description)
        }
        defer { wipe(&bytes) }
        let pin = bytes.last == UInt8(ascii: "\n") ? bytes.dropLast() : bytes[...]
        return pin.isEmpty ? nil : SecretBytes(pin)
    }
}
