public import Cryptography
import Groundwork

/// Taking over the records of an export.
extension Vault {
    /// What was taken over.
    public struct Restored: Sendable, Equatable {
        /// How many records were written.
        public var records = 0
        /// How many of them are private keys.
        public var keys = 0
        /// Records of the export that are the board's own, and were not written.
        public var leftOut: [RecordName] = []
    }

    /// Writes the records of an export into this vault, in one commit, after all of them have been read and
    /// authenticated. One commit has at most 64 MiB and 4096 records; it is one turn, and the disk needs room for twice
    /// as much.
    ///
    /// - Parameter isBoardsOwn: for records that belong to this board whatever it has in store, such as its serial
    ///   number. The vault may have them, and keeps its own; it must not have any other, but it may have a passcode.
    /// - Throws: ``VaultError``, such as ``VaultError/export(_:)``; `CancellationError`. Nothing has changed then.
    public func restore(
        from path: String, passphrase: SecretBytes, keeping isBoardsOwn: @escaping @Sendable (RecordName) -> Bool
    ) async throws -> Restored {
        let unsealed = try access()
        try explained { try checkUnused(try root(unsealed), unsealed, isBoardsOwn) }
        let reader = try explained { try ExportReader(opening: path) }
        let key = try await Passphrase(passphrase).derived(from: reader.header.parameters)
        var records = try explained { try reader.records(key) }
        while try checkTurn(&records) {
            try Task.checkCancellation()
            await Task.yield()
        }
        return try write(reader, key, isBoardsOwn)
    }

    /// - Throws: ``ExportError/vaultInUse(name:)``
    private func checkUnused(
        _ root: ManifestRoot, _ unsealed: Unsealed, _ isBoardsOwn: (RecordName) -> Bool
    ) throws {
        for page in root.pages {
            let names = try unsealed.file.page(page, unsealed.seal).entries.keys.sorted()
                .map { RecordName(scope: page.scope, name: $0) }
            guard let name = names.first(where: { $0 != Compartment.record && !isBoardsOwn($0) }) else { continue }
            throw ExportError.vaultInUse(name: name)
        }
    }

    /// Reads some records.
    ///
    /// - Returns: whether there are more.
    private func checkTurn(_ records: inout ExportRecords) throws(VaultError) -> Bool {
        try explained {
            var (count, bytes) = (0, 0)
            while count < Self.turn.records, bytes < Self.turn.bytes {
                guard let record = try records.next() else { return false }
                (count, bytes) = (count + 1, bytes + record.count)
            }
            return true
        }
    }

    private func write(
        _ reader: ExportReader, _ key: SecretBytes, _ isBoardsOwn: (RecordName) -> Bool
    ) throws(VaultError) -> Restored {
        var restored = Restored()
        var records = try explained { try reader.records(key) }
        let unsealed = try access()
        try write(after: { try checkUnused($0, $1, isBoardsOwn) }) {
            while let record = try records.next() {
                guard !isBoardsOwn(record.name) else {
                    restored.leftOut.append(record.name)
                    continue
                }
                restored.records += 1
                if record.kind == .privateKey { restored.keys += 1 }
                if let content = record.content { return .put(record.name, record.kind, content) }
                return .put(record.name, .pieces, try writePieces(of: record, from: &records, unsealed).encoded())
            }
            return nil
        }
        return restored
    }

    /// Within the transaction of the record.
    private func writePieces(
        of record: ExportRecords.Entry, from records: inout ExportRecords, _ unsealed: Unsealed
    ) throws -> LargeValue {
        let value = LargeValue(
            id: try LargeValue.newID(), kind: record.kind, count: record.count,
            key: try SecretBytes.random(Seal.keyBytes))
        for number in 0..<value.pieceCount {
            guard let piece = try records.part() else { throw VaultError.recordDamaged(name: record.name) }
            let isLast = number == value.pieceCount - 1
            let sealed = try unsealed.seal.seal(
                piece: piece, number, isLast: isLast, of: record.name, id: value.id, key: value.key)
            try unsealed.file.putPiece(number, of: record.name, value.id, sealed)
        }
        return value
    }
}
