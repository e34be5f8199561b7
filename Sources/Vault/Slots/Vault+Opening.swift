import Cryptography

/// The search for a slot that opens a vault.
extension Vault {
    /// Finds the first key that fits an undamaged slot. Keys are derived while other calls go on.
    ///
    /// - Throws: the key's own error if a key could not be used, ``VaultError/slotDamaged(path:id:kind:)`` if its slot
    ///   is damaged, else ``VaultError/noSlotOpens(path:tried:)``.
    func opened(
        _ file: VaultFile, with keys: [any SlotKey]
    ) async throws(VaultError) -> (seal: Seal, slot: Slot) {
        let vaultID = try explained { try file.vaultID() }
        let slots = try explained { try file.storedSlots() }
        var fault: VaultError?
        for key in keys {
            for slot in slots where slot.kind == key.kind {
                guard !slot.isDamaged else {
                    fault = fault ?? .slotDamaged(path: path, id: slot.id, kind: slot.kind)
                    continue
                }
                do throws(VaultError) {
                    let wrappingKey = try await key.derived(from: slot.parameters)
                    // One that was removed or replaced meanwhile opens nothing any more.
                    let isThere = try explained { try file.storedSlots().contains(slot) }
                    let rootKey = try explained { try slot.unwrap(vaultID: vaultID, key: wrappingKey) }
                    if isThere, let rootKey { return (Seal(vaultID: vaultID, rootKey: rootKey), slot.slot) }
                } catch {
                    fault = fault ?? error
                }
            }
        }
        throw fault ?? .noSlotOpens(path: path, tried: keys.map(\.kind))
    }
}
