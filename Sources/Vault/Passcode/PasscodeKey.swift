public import Cryptography
import Groundwork

/// The half of a passcode's key that a chip has, so that a copy of the disk is of no use for guessing.
public struct PasscodeHardware: Sendable {
    let make: @Sendable () async throws(VaultError) -> SecretBytes
    let read: @Sendable () async throws(VaultError) -> SecretBytes
    let remove: @Sendable () async throws(VaultError) -> Void

    /// - Parameters:
    ///   - make: stores a new secret of 32 random bytes in the chip, in place of one that there is.
    ///   - read: gives it.
    ///   - remove: removes it; a secret that is not there is no error.
    public init(
        make: @escaping @Sendable () async throws(VaultError) -> SecretBytes,
        read: @escaping @Sendable () async throws(VaultError) -> SecretBytes,
        remove: @escaping @Sendable () async throws(VaultError) -> Void
    ) {
        (self.make, self.read, self.remove) = (make, read, remove)
    }
}

/// How the key of a passcode is derived: scrypt, whose result HKDF joins with the secret of the chip.
struct PasscodeKey: Equatable, Sendable {
    let scrypt: Passphrase.Parameters
    let needsHardware: Bool

    /// Parameters with a new salt.
    ///
    /// - Throws: `CryptographyError`
    static func make(cost: ScryptCost, needsHardware: Bool) throws -> PasscodeKey {
        let salt = try Random.bytes(Passphrase.saltBytes)
        return PasscodeKey(scrypt: Passphrase.Parameters(cost: cost, salt: salt), needsHardware: needsHardware)
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
