import Cryptography

/// A counter in a TPM. It only goes up, also when a copy of the disk is put back.
struct ChipCounter: Equatable, Sendable {
    let index: ChipIndex

    /// Makes a counter under the first of these numbers that no other program has, or finds the one that was made
    /// there before, with the same authorization value.
    ///
    /// - Parameter authorization: of 32 bytes, that all later calls need.
    /// - Returns: also its value; `nil` while it has not counted. Its first value is at least that of each counter that
    ///   the TPM has ever had.
    /// - Throws: ``VaultError/chip(_:)``
    static func prepare(
        under numbers: [UInt32], in chip: Chip, _ authorization: SecretBytes
    ) throws(VaultError) -> (counter: ChipCounter, value: UInt64?) {
        try chipped { () throws(ChipError) in
            for number in numbers {
                let found = try chip.run { connection throws(ChipError) -> (counter: ChipCounter, value: UInt64?)? in
                    let index = ChipIndex(number: number, primaryName: connection.primaryName)
                    do throws(ChipError) {
                        try connection.define(.counter, number: number, authorization: authorization)
                        return (ChipCounter(index: index), nil)
                    } catch .indexTaken {}
                    do throws(ChipError) {
                        return (ChipCounter(index: index), try connection.counted(number, authorization))
                    } catch .refused {
                        // Another program's.
                        return nil
                    }
                }
                if let found { return found }
            }
            throw .indexTaken(number: numbers.last ?? 0)
        }
    }

    /// Reads it, and has it count by one first if its value asks for that: an operation that was cut off is never done
    /// twice.
    ///
    /// - Parameter isBehind: is given the value; `nil` while it has not counted.
    /// - Returns: the value afterwards.
    /// - Throws: ``VaultError/chip(_:)``; ``ChipError/indexMissing(number:)`` if a program has removed it,
    ///   ``ChipError/otherChip``
    func value(
        in chip: Chip, _ authorization: SecretBytes, countingIf isBehind: (UInt64?) -> Bool = { _ in false }
    ) throws(VaultError) -> UInt64? {
        try chipped { () throws(ChipError) in
            try chip.run(named: index.primaryName) { connection throws(ChipError) in
                try connection.counted(index.number, authorization, if: isBehind)
            }
        }
    }

    /// - Throws: ``VaultError/chip(_:)``, also ``ChipError/otherChip``; a counter that is not there is no error.
    func remove(from chip: Chip) throws(VaultError) { try index.remove(from: chip) }
}

extension ChipConnection {
    fileprivate func counted(
        _ number: UInt32, _ authorization: SecretBytes, if isBehind: (UInt64?) -> Bool = { _ in false }
    ) throws(ChipError) -> UInt64? {
        let index = try index(number)
        try authorize(index, authorization)
        let session = try startSaltedSession()
        let value = try counter(index, in: session)
        guard isBehind(value) else { return value }
        try increment(index, in: session)
        return try counter(index, in: session)
    }

    /// `nil` for a counter that has not counted.
    private func counter(_ index: Handle, in session: Handle) throws(ChipError) -> UInt64? {
        do throws(ChipError) {
            return try read(.counter, of: index, in: session).withUnsafeBytes { $0.reduce(0) { $0 << 8 | UInt64($1) } }
        } catch {
            guard case .refused(_, let code) = error, ChipCode(raw: code).isIndexUnwritten else { throw error }
            return nil
        }
    }
}
