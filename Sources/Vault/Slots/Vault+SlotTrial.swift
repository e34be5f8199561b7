import Cryptography

/// Trying a key of a slot before the next start needs it.
extension Vault {
    /// Opens a slot as a start would, and uses nothing of it. Keys are derived while other calls go on.
    ///
    /// - Throws: ``VaultError``: the key's own error, ``VaultError/slotUnknown(path:id:)``,
    ///   ``VaultError/slotDamaged(path:id:kind:)``, ``VaultError/noSlotOpens(path:tried:)`` for another key or kind.
    public func test(slot id: Int64, with key: any SlotKey) async throws(VaultError) -> Slot {
        let file = try openFile()
        let (vaultID, slots) = try explained { (try file.vaultID(), try file.storedSlots()) }
        guard let slot = slots.first(where: { $0.id == id }) else { throw .slotUnknown(path: path, id: id) }
        guard !slot.isDamaged else { throw .slotDamaged(path: path, id: id, kind: slot.kind) }
        guard slot.kind == key.kind else { throw .noSlotOpens(path: path, tried: [key.kind]) }
        let wrappingKey = try await key.derived(from: slot.parameters)
        guard try explained({ try slot.unwrap(vaultID: vaultID, key: wrappingKey) }) != nil else {
            throw .noSlotOpens(path: path, tried: [key.kind])
        }
        return slot.slot
    }
}
