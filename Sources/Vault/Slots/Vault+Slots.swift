import Groundwork
import Storage

/// The slots that open a vault. A key is derived before the transaction that needs it begins, which then checks again
/// what was checked before.
extension Vault {
    /// Works for a locked vault too, to show how to unlock it.
    public func slots() throws(VaultError) -> [Slot] {
        let file = try openFile()
        return try explained { try file.storedSlots().map(\.slot) }
    }

    /// The slot that opened the vault. If its kind `isDevelopment`, show a loud warning.
    public func openedBy() throws(VaultError) -> Slot { try access().openedBy }

    /// Adds a slot that opens with `key`.
    @discardableResult
    public func add(_ key: any SlotKey) async throws(VaultError) -> Slot {
        await keyTurn.lock()
        defer { keyTurn.unlock() }
        try checkRoom()
        let made = try await made(key)
        return try change { unsealed in
            try checkRoom()
            return try unsealed.file.insertSlot(for: made, of: unsealed.seal)
        }
    }

    /// Changes slots, in a commit that counts.
    private func change<Result>(_ body: (Unsealed) throws -> Result) throws(VaultError) -> Result {
        let unsealed = try access()
        let (result, written) = try explained {
            try unsealed.file.database.transaction {
                var root = try root(unsealed)
                let result = try body(unsealed)
                root.generation += 1
                count(&root)
                try unsealed.file.write(root, unsealed.seal)
                return (result, root)
            }
        }
        noteWritten(written)
        countLater()
        return result
    }

    private func checkRoom() throws(VaultError) {
        let file = try access().file
        guard try explained({ try file.storedSlots().count }) < StoredSlot.limit else {
            throw .tooManySlots(path: path, limit: StoredSlot.limit)
        }
    }

    /// Wraps a slot's root key again with `key` and new parameters; the previous key no longer opens the slot.
    @discardableResult
    public func rewrap(slot id: Int64, with key: any SlotKey) async throws(VaultError) -> Slot {
        await keyTurn.lock()
        defer { keyTurn.unlock() }
        let before = try storedSlot(id)
        let made = try await made(key)
        let slot = try change { unsealed in
            guard try storedSlot(id) == before else { throw VaultError.slotUnknown(path: path, id: id) }
            let slot = try unsealed.file.insertSlot(for: made, of: unsealed.seal, replacing: id)
            killPoint("vault-rewrap-written")
            return slot
        }
        killPoint("vault-rewrap-committed")
        return slot
    }

    private func storedSlot(_ id: Int64) throws(VaultError) -> StoredSlot {
        let file = try access().file
        guard let slot = try explained({ try file.storedSlots().first { $0.id == id } }) else {
            throw .slotUnknown(path: path, id: id)
        }
        return slot
    }

    /// Removes a slot. Its key no longer opens this file, but still opens earlier copies of the file.
    ///
    /// - Parameter force: whether slots may be left that all have their key beside the vault.
    /// - Throws: ``VaultError/lastSlot(path:id:)`` when there is no other undamaged slot,
    ///   ``VaultError/onlyDevelopmentSlots(path:id:)``
    public func remove(slot id: Int64, force: Bool = false) throws(VaultError) {
        try change { unsealed in
            let slots = try unsealed.file.storedSlots()
            guard let slot = slots.first(where: { $0.id == id }) else {
                throw VaultError.slotUnknown(path: path, id: id)
            }
            let left = slots.filter { $0.id != id && !$0.isDamaged }
            guard !left.isEmpty else { throw VaultError.lastSlot(path: path, id: id) }
            let isNeeded = !slot.kind.isDevelopment && !slot.isDamaged
            guard force || !isNeeded || left.contains(where: { !$0.kind.isDevelopment }) else {
                throw VaultError.onlyDevelopmentSlots(path: path, id: id)
            }
            try unsealed.file.database.run("DELETE FROM slot WHERE id = ?1", .integer(id))
        }
    }
}
