import Cryptography
import Groundwork
import Vault

extension VaultSettings {
    /// The slot key that the settings name.
    ///
    /// - Parameter environment: read for `CREDENTIALS_DIRECTORY`.
    /// - Throws: `VaultError.credentialMissing`, or ``AgentError/passphraseUnreadable(path:reason:)``.
    package func key(stateDirectory: String, environment: [String: String]) throws -> any SlotKey {
        switch slot {
        case .systemdCredential:
            return SystemdCredential(name: credential, directory: try credentials(environment))
        case .passphrase:
            let path = passphraseFile.isEmpty ? "\(try credentials(environment))/\(credential)" : passphraseFile
            return Passphrase(try Self.passphrase(in: path, isOurs: !passphraseFile.isEmpty))
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
