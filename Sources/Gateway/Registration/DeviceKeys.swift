import Cryptography
import Groundwork
import Vault

/// Makes the keys of a registration. Each is on disk before the first request that uses it, so that a repetition after
/// a lost answer uses the same key.
struct DeviceKeys: Sendable {
    let store: HoldingsStore

    /// The identifier of this installation, created and stored if there is none.
    func deviceID(in operation: borrowing Operation) async throws -> String {
        if let deviceID = try await store.holdings().deviceID { return deviceID }
        let made = try await store.keys.make(.p256, label: "identifier")
        try await store.update(in: operation) {
            $0.identifierKey = made.reference
            $0.keys[made.reference] = made.key
        }
        killPoint("identifier-committed")
        return DeviceIdentifier.text(of: made.key)
    }

    /// The key of a registration without an answer yet.
    func pendingKey(in operation: borrowing Operation) async throws -> StoredKey {
        let held = try await store.holdings()
        if let reference = held.pendingKey, let key = held.keys[reference] {
            return StoredKey(reference: reference, key: key)
        }
        let (keys, choice) = (store.keys, store.keyChoice)
        let made = try await keys.make(
            choice.algorithm(rsaBits: store.configuration.keyBits), label: "device", in: choice.keeper)
        try await store.update(in: operation) {
            $0.pendingKey = made.reference
            $0.keys[made.reference] = made.key
        }
        return made
    }
}

/// The identifier of this installation at one gateway: lower-case hex SHA-256 of the public key of a key pair used only
/// for this (MAG 4.2). It stays the same until the device is removed or the local data reset; then it changes with the
/// new key.
enum DeviceIdentifier {
    static func text(of key: PrivateKey) -> String { Hex.encode(key.publicKey.spkiSHA256) }

    /// The value of the header `device-id`.
    static func header(_ identifier: String) -> String { Base64.encode(identifier.utf8) }
}
