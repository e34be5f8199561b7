import Cryptography
import Groundwork
import Storage

/// Replacing the root key, which a slot's secret and an earlier copy of the file open together.
extension Vault {
    /// Makes a new root key that one slot alone wraps, and seals every record below it with a new data key. Neither the
    /// former root key nor the slots that go open anything of the file from then on; they open its earlier copies.
    ///
    /// - Parameters:
    ///   - key: of the slot that opened the vault, with which the next start opens it.
    ///   - dropped: the numbers of the other slots, which all go.
    /// - Throws: ``VaultError``, ``VaultError/slotsLeft(path:ids:)`` when there are more slots; and what
    ///   ``rekey(progress:)`` does.
    public func replaceRootKey(for key: any SlotKey, dropping dropped: Set<Int64>) async throws -> Rekeying {
        await keyTurn.lock()
        do {
            defer { keyTurn.unlock() }
            let kept = try openedBy().id
            let left = try slots().map(\.id).filter { $0 != kept && !dropped.contains($0) }
            guard left.isEmpty else { throw VaultError.slotsLeft(path: path, ids: left) }
            let made = try await made(key)
            // In format 1 it sealed the records itself.
            if try hasRecordsOfRootKey() { _ = try await rekey() }
            // It gets a counter of its own, and would hide that the file was put back.
            await anchorTurn.lock()
            defer { anchorTurn.unlock() }
            try await settle()
            try replaceRootKey(made, of: kept)
        }
        return try await continueRekeying()
    }

    private func hasRecordsOfRootKey() throws(VaultError) -> Bool {
        let unsealed = try access()
        return try explained {
            try unsealed.file.database.snapshot {
                try root(unsealed).pages.contains { page in
                    try unsealed.file.page(page, unsealed.seal).entries.values.contains { $0.key == Seal.rootKeyID }
                }
            }
        }
    }

    private func replaceRootKey(_ made: NewSlotKey, of slot: Int64) throws(VaultError) {
        let before = try access()
        let (written, opened) = try explained {
            let seal = Seal(
                vaultID: before.seal.vaultID, rootKey: try SecretBytes.random(Seal.keyBytes),
                levelKeys: before.seal.levelKeys)
            return try before.file.database.transaction {
                var root = try root(before)
                root.generation += 1
                try before.file.rewrapKeys(of: before.seal, for: seal)
                root.key = try before.file.addKey(.always, seal)
                // The value that its use needs follows from the root key: the next one is made with the new one.
                root.anchoring.retire()
                count(&root)
                for page in root.pages {
                    let sealed = try seal.seal(before.file.page(page, before.seal), id: page.id)
                    root.update(page.id, count: page.count, digest: SHA256.hash(sealed))
                    try before.file.writePage(page.id, sealed)
                }
                try before.file.write(root, seal)
                try before.file.database.run("DELETE FROM slot")
                let slot = try before.file.insertSlot(for: made, of: seal, replacing: slot)
                killPoint("vault-root-key-written")
                return (root, Unsealed(file: before.file, seal: seal, openedBy: slot))
            }
        }
        noteReplaced(opened)
        noteWritten(written)
        killPoint("vault-root-key-committed")
        countLater()
    }
}
