import Cryptography

/// A counter in a TPM. It only goes up, also when a copy of the disk is put back.
struct ChipCounter: Equatable, Sendable {
    let index: ChipIndex

    /// Makes a counter. Its first value is at least that of each counter that the TPM has ever had.
    ///
    /// - Parameter authorization: of 32 bytes, that all later calls need.
    /// - Throws: ``VaultError/chip(_:)``
    static func make(in chip: Chip, authorization: SecretBytes) throws(VaultError) -> ChipCounter {
        // Until it has counted once, it cannot be read.
        ChipCounter(
            index: try ChipIndex.make(.counter, in: chip, authorization: authorization) {
                connection, index, session throws(ChipError) in
                try connection.increment(index, in: session)
            })
    }

    /// Adds one. After a temporary error it may have done so or not: ``value(in:_:)`` says it.
    ///
    /// - Throws: ``VaultError/chip(_:)``; ``ChipError/indexMissing(number:)`` if a program has removed it,
    ///   ``ChipError/otherChip``
    func increment(in chip: Chip, _ authorization: SecretBytes) throws(VaultError) {
        try index.run(on: chip, authorization) { connection, index, session throws(ChipError) in
            try connection.increment(index, in: session)
        }
    }

    /// - Throws: as ``increment(in:_:)``
    func value(in chip: Chip, _ authorization: SecretBytes) throws(VaultError) -> UInt64 {
        let bytes = try index.run(on: chip, authorization) { connection, index, session throws(ChipError) in
            try connection.read(.counter, of: index, in: session)
        }
        return bytes.withUnsafeBytes { $0.reduce(0) { $0 << 8 | UInt64($1) } }
    }

    /// - Throws: ``VaultError/chip(_:)``, also ``ChipError/otherChip``; a counter that is not there is no error.
    func remove(from chip: Chip) throws(VaultError) { try index.remove(from: chip) }
}
