import Cryptography

/// Stores private keys for one owner, which has references to them.
///
/// A key is on disk before its reference is returned. The owner then commits a record with the reference; a crash
/// between the two leaves an unreferenced key, which the owner's next ``sweep(keeping:)`` removes. The changes of
/// ``removal(of:)`` remove a key in the same commit as its reference.
///
///     let keys = vault.keys(of: scope)
///     let made = try await keys.make(.p256, label: "device")
///     try await vault.commit([.put(terms, .state, document(naming: made.reference))] + keys.removal(of: old))
public protocol KeyStore: Sendable {
    /// Generates a key and stores it under a unique name.
    ///
    /// - Parameters:
    ///   - label: what the key is for; the first part of its name. 1 to 47 of a to z, 0 to 9 and `-`.
    ///   - keeper: where it is from then on.
    /// - Throws: ``VaultError``
    func make(
        _ algorithm: PrivateKey.Algorithm, label: String, in keeper: KeyReference.Keeper
    ) async throws(VaultError) -> StoredKey

    /// - Returns: `nil` when there is no such key.
    /// - Throws: ``VaultError``; ``VaultError/keyInvalid(name:)`` when the record is not a key,
    ///   ``VaultError/keeperMissing(_:)``, else the errors of reading a record.
    func key(_ reference: KeyReference) async throws(VaultError) -> PrivateKey?

    /// The references of all keys.
    func references() async throws(VaultError) -> Set<KeyReference>

    /// The changes that remove a key as part of a commit of the vault; a missing key is not an error.
    func removal(of reference: KeyReference) -> [Change]

    /// Removes all keys but these, including unreadable ones. Call it only while no key is being created for the owner:
    /// a key without a record yet counts as unreferenced.
    ///
    /// - Returns: the references of the removed keys.
    @discardableResult
    func sweep(keeping kept: Set<KeyReference>) async throws(VaultError) -> Set<KeyReference>
}

extension KeyStore {
    /// Generates a key as ``make(_:label:in:)`` does, and seals it in the vault.
    public func make(_ algorithm: PrivateKey.Algorithm, label: String) async throws(VaultError) -> StoredKey {
        try await make(algorithm, label: label, in: .software)
    }
}

/// A private key and its reference.
public struct StoredKey: Sendable {
    public let reference: KeyReference
    public let key: PrivateKey

    public init(reference: KeyReference, key: PrivateKey) {
        self.reference = reference
        self.key = key
    }
}
