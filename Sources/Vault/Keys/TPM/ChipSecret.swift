import Cryptography

/// 32 random bytes that are in a TPM alone. When they are removed, no copy of the disk brings back what was encrypted
/// with them.
struct ChipSecret: Equatable, Sendable {
    let index: ChipIndex

    /// Draws a secret and stores it in the chip.
    ///
    /// - Parameter authorization: of 32 bytes, that ``read(from:_:)`` needs.
    /// - Throws: ``VaultError/chip(_:)``
    static func make(
        in chip: Chip, authorization: SecretBytes
    ) throws(VaultError) -> (place: ChipSecret, secret: SecretBytes) {
        let secret = try explained { try SecretBytes.random(ChipIndex.Content.secret.bytes) }
        let index = try ChipIndex.make(.secret, in: chip, authorization: authorization) {
            connection, index, session throws(ChipError) in
            try connection.write(secret, to: index, in: session)
        }
        return (ChipSecret(index: index), secret)
    }

    /// - Throws: ``VaultError/chip(_:)``; ``ChipError/indexMissing(number:)`` once it is removed,
    ///   ``ChipError/otherChip``
    func read(from chip: Chip, _ authorization: SecretBytes) throws(VaultError) -> SecretBytes {
        try index.run(on: chip, authorization) { connection, index, session throws(ChipError) in
            try connection.read(.secret, of: index, in: session)
        }
    }

    /// - Throws: ``VaultError/chip(_:)``, also ``ChipError/otherChip``; a secret that is not there is no error.
    func remove(from chip: Chip) throws(VaultError) { try index.remove(from: chip) }
}
