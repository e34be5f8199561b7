import Cryptography
import Groundwork

/// The key for a slot that is about to be written, with what the slot stores to get it again.
struct NewSlotKey {
    let kind: Slot.Kind
    let wrappingKey: SecretBytes
    let parameters: [UInt8]
}

extension SlotKey {
    /// Runs ``makeWrappingKey()`` on ``NamedThread/keys``.
    func made() async throws(VaultError) -> NewSlotKey {
        try await withTaskExecutorPreference(NamedThread.keys.tasks) { () async throws(VaultError) in
            let (wrappingKey, parameters) = try await makeWrappingKey()
            return NewSlotKey(kind: kind, wrappingKey: wrappingKey, parameters: parameters)
        }
    }

    /// Runs ``wrappingKey(from:)`` on ``NamedThread/keys``.
    func derived(from parameters: [UInt8]) async throws(VaultError) -> SecretBytes {
        try await withTaskExecutorPreference(NamedThread.keys.tasks) { () async throws(VaultError) in
            try await wrappingKey(from: parameters)
        }
    }
}
