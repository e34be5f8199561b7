import Cryptography
import Groundwork
import Storage

/// Replacing the data keys of a vault. Records move to the new key in commits between which others come through; both
/// keys open until the last one has moved. Cut off, the vault is mixed and whole, and goes on later.
extension Vault {
    /// What was done.
    public struct Rekeying: Sendable, Equatable {
        public var moved = 0
        /// Records that cannot be read any more, which stay as they are.
        public var damaged: [RecordName] = []
        /// How many records are behind the passcode, open or not: they keep the keys that they have.
        public var behindPasscode = 0
    }

    /// Whether a rekeying was cut off.
    ///
    /// - Throws: ``VaultError``
    public func isRekeying() throws(VaultError) -> Bool {
        let unsealed = try access()
        return try explained { try unsealed.file.keyCount() > 1 }
    }

    /// Seals every record with a new data key and removes the former ones from the file.
    ///
    /// - Parameter progress: is told after each commit how many records have moved, of how many.
    /// - Throws: ``VaultError``, and `CancellationError` between two commits; the rekeying is cut off then.
    public func rekey(progress: @Sendable (Int, Int) -> Void = { _, _ in }) async throws -> Rekeying {
        let unsealed = try access()
        let begun = try explained {
            try unsealed.file.database.transaction {
                var root = try root(unsealed)
                root.generation += 1
                root.key = try unsealed.file.addKey(.always, unsealed.seal)
                count(&root)
                try unsealed.file.write(root, unsealed.seal)
                return root
            }
        }
        noteWritten(begun)
        countLater()
        killPoint("vault-rekey-begun")
        return try await continueRekeying(progress: progress)
    }

    /// Moves the records that a rekeying has left, and removes the former keys.
    ///
    /// - Throws: what ``rekey(progress:)`` does.
    public func continueRekeying(progress: @Sendable (Int, Int) -> Void = { _, _ in }) async throws -> Rekeying {
        var found = Rekeying()
        while try moveBatch(&found) {
            killPoint("vault-rekey-moved")
            progress(found.moved, try recordCount())
            try Task.checkCancellation()
            await Task.yield()
        }
        killPoint("vault-rekey-ended")
        // The former keys are in the log, too.
        let unsealed = try access()
        try explained {
            try unsealed.file.database.checkpoint()
            found.behindPasscode = try unsealed.file.database.snapshot {
                let keys = try unsealed.file.levelKeyIDs()
                return try count(of: keys, in: try root(unsealed), unsealed)
            }
        }
        return found
    }

    private func recordCount() throws(VaultError) -> Int {
        let unsealed = try access()
        return try explained { try root(unsealed).count }
    }

    /// Moves records, or removes the former keys if none is left that needs one.
    ///
    /// - Returns: whether some may be left.
    private func moveBatch(_ found: inout Rekeying) throws(VaultError) -> Bool {
        let unsealed = try access()
        var (moved, damaged, isOver) = (0, found.damaged, false)
        let written: ManifestRoot? = try explained {
            try unsealed.file.database.transaction {
                var root = try root(unsealed)
                guard let key = try unsealed.file.dataKey(root.key, unsealed.seal) else {
                    throw VaultError.manifestDamaged(path: path)
                }
                let names = try sealedOtherwise(root, unsealed).filter { !damaged.contains($0) }
                guard !names.isEmpty else {
                    try unsealed.file.removeKeys(except: root.key)
                    isOver = true
                    return nil
                }
                let before = root
                root.generation += 1
                var (draft, bytes) = (ManifestDraft(root, of: unsealed.file, unsealed.seal), 0)
                for name in names where moved < Self.turn.records && bytes < Self.turn.bytes {
                    let record: Record
                    do {
                        guard let found = try read(name, before, unsealed) else { continue }
                        record = found
                    } catch let error as VaultError where error.isOfRecord {
                        damaged.append(name)
                        continue
                    }
                    let entry = RecordEntry(kind: record.kind, version: root.generation, key: root.key)
                    try unsealed.file.put(name, entry, record.content, unsealed.seal, key: key)
                    try draft.put(name, entry)
                    (moved, bytes) = (moved + 1, bytes + record.content.count)
                }
                guard moved > 0 else { return nil }
                try draft.write()
                return draft.root
            }
        }
        found.damaged = damaged
        if let written { noteWritten(written) }
        found.moved += moved
        return !isOver
    }

    /// How many records these data keys seal.
    private func count(of keys: Set<Int64>, in root: ManifestRoot, _ unsealed: Unsealed) throws -> Int {
        guard !keys.isEmpty else { return 0 }
        return try root.pages.reduce(0) { count, page in
            count + (try unsealed.file.page(page, unsealed.seal).entries.values.count { keys.contains($0.key) })
        }
    }

    /// The records that the newest data key does not seal, but for those behind the passcode.
    private func sealedOtherwise(_ root: ManifestRoot, _ unsealed: Unsealed) throws -> [RecordName] {
        let kept = try unsealed.file.levelKeyIDs().union([root.key])
        var names: [RecordName] = []
        for page in root.pages {
            let entries = try unsealed.file.page(page, unsealed.seal).entries
            names += entries.filter { !kept.contains($0.value.key) }.keys.sorted()
                .map { RecordName(scope: page.scope, name: $0) }
        }
        return names
    }
}
