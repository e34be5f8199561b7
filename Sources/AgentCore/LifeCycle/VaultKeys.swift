import Cryptography
import Groundwork
import Vault

extension VaultSettings {
    /// The slot keys that the settings name.
    ///
    /// - Parameter environment: read for `CREDENTIALS_DIRECTORY`.
    /// - Returns: those that are there, and why the first of the others is not.
    package func keys(hardware: KeyHardware, stateDirectory: String, environment: [String: String]) -> (
        keys: [any SlotKey], fault: (any Error)?
    ) {
        var keys: [any SlotKey] = []
        var fault: (any Error)?
        for slot in slots {
            do {
                keys.append(
                    try key(
                        of: slot, hardware: hardware, stateDirectory: stateDirectory, environment: environment))
            } catch {
                fault = fault ?? error
            }
        }
        return (keys, fault)
    }

    /// - Throws: `VaultError.credentialMissing`, `VaultError.keeperMissing`, or
    ///   ``AgentError/passphraseUnreadable(path:reason:)``.
    package func key(
        of slot: Slot, hardware: KeyHardware, stateDirectory: String, environment: [String: String]
    ) throws -> any SlotKey {
        switch slot {
        case .systemdCredential:
            return SystemdCredential(name: credential, directory: try credentials(environment))
        case .passphrase:
            let path = passphraseFile.isEmpty ? "\(try credentials(environment))/\(credential)" : passphraseFile
            return Passphrase(try Self.passphrase(in: path, isOurs: !passphraseFile.isEmpty))
        case .tpm: return hardware.tpmSlot
        case .pkcs11: return try hardware.tokenSlot()
        case .developmentKeyFile:
            return DevelopmentKeyFile(developmentKeyFile.isEmpty ? "\(stateDirectory)/vault.key" : developmentKeyFile)
        }
    }

    /// - Parameter isOurs: whether we control its mode. systemd grants a credential by an access list, which makes the
    ///   mode of its file look as if a group could read it.
    private static func passphrase(in path: String, isOurs: Bool) throws(AgentError) -> SecretBytes {
        var bytes: [UInt8]
        do {
            bytes = try BoundedFile.read(path, limit: 4096, .anything, isSecret: isOurs)
        } catch {
            throw .passphraseUnreadable(path: path, reason: error.description)
        }
        defer { wipe(&bytes) }
        // Editors end a file with a line feed that is not part of the passphrase.
        let secret = bytes.last == UInt8(ascii: "\n") ? bytes.dropLast() : bytes[...]
        guard !secret.isEmpty else { throw .passphraseUnreadable(path: path, reason: "it is empty") }
        return SecretBytes(secret)
    }

    private func credentials(_ environment: [String: String]) throws -> String {
        guard let directory = environment["CREDENTIALS_DIRECTORY"] else {
            throw VaultError.credentialMissing(name: credential, directory: nil)
        }
        return directory
    }
}
