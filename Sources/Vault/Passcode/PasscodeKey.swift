import Cryptography
import Groundwork

/// How the key of a passcode is derived: scrypt, whose result HKDF joins with the secret of the chip.
struct PasscodeKey: Equatable, Sendable {
    let scrypt: Passphrase.Parameters
    /// Where the chip has its half, as ``PasscodeHardware`` wrote it; `nil` without one.
    let place: SecretBytes?

    /// Parameters with a new salt.
    ///
    /// - Throws: `CryptographyError`
    static func make(cost: ScryptCost, place: SecretBytes?) throws -> PasscodeKey {
        let salt = try Random.bytes(Passphrase.saltBytes)
        return PasscodeKey(scrypt: Passphrase.Parameters(cost: cost, salt: salt), place: place)
    }

    /// Derives the key on ``NamedThread/keys``.
    ///
    /// - Parameter chip: the secret of the chip, if one is needed.
    /// - Throws: ``VaultError``, such as ``PasscodeError/tampered`` for parameters that would stop the board.
    func derive(from passcode: Passcode, chip: SecretBytes?, vaultID: [UInt8]) async throws(VaultError) -> SecretBytes {
        guard scrypt.isBounded else { throw .passcode(.tampered) }
        return try await withTaskExecutorPreference(NamedThread.keys.tasks) { () async throws(VaultError) in
            try explained {
                var secret = try KeyDerivation.scrypt(
                    passphrase: passcode.secret, salt: scrypt.salt, cost: scrypt.cost, count: Seal.keyBytes
                ).exposed()
                // Never grown: that would leave a copy in memory.
                var whole: [UInt8] = []
                whole.reserveCapacity(secret.count + (chip?.count ?? 0))
                whole += secret
                wipe(&secret)
                chip?.withUnsafeBytes { whole.append(contentsOf: $0) }
                defer { wipe(&whole) }
                let info = FieldWriter(purpose: "latchkey passcode 1").bytes
                return try KeyDerivation.hkdf(
                    secret: SecretBytes(whole), salt: vaultID, info: info, count: Seal.keyBytes)
            }
        }
    }
}
