import Cryptography
public import Vault

/// Items at the gateway that this board seals before they leave, with a key that only its vault has.
///
/// What phones and other programs have stored is read, too: it is not sealed.
public struct SealedStorage: Sendable {
    private static let kind = RecordKind(rawValue: "item-key")

    private let storage: CloudStorage
    private let segment: ItemSegment
    private let vault: Vault
    private let secretName: RecordName
    private let user: @Sendable () async throws -> String

    /// - Parameters:
    ///   - scope: of the account's records in the vault, which has a key of its own.
    ///   - user: the name of the logged-in user; asked for only if the segment is a user's.
    public init(
        _ storage: CloudStorage, _ segment: ItemSegment, vault: Vault, scope: String,
        user: @escaping @Sendable () async throws -> String
    ) {
        (self.storage, self.segment, self.vault, self.user) = (storage, segment, vault, user)
        secretName = RecordName(scope: scope, name: "item-key")
    }

    /// Stores an item sealed, new or in place of an earlier one.
    ///
    /// - Throws: ``ItemError``, what the vault, the user and the gateway's service throw
    public func save(_ key: String, _ value: [UInt8], type: String) async throws {
        try StoredItem.check(key: key)
        try StoredItem.check(type: type, value: value)
        let secret = try await vault.secret(secretName, Self.kind, count: AESGCM.keyBytes)
        let sealed = try ItemSeal(secret).seal(value, type: type, at: try await place(of: key))
        try await storage.store(key, sealed, type: ItemSeal.type, in: segment)
    }

    /// Finds an item, sealed or not.
    ///
    /// - Parameter demandsSeal: whether one that is not sealed is refused. The gateway, or another program, can store
    ///   such a one in place of a sealed one.
    /// - Throws: ``ItemError``; ``ItemError/sealedElsewhere(key:)``, ``ItemError/sealBroken(key:)``,
    ///   ``ItemError/notSealed(key:)``
    public func find(_ key: String, demandsSeal: Bool) async throws -> (item: StoredItem, isSealed: Bool) {
        let item = try await storage.find(key, in: segment)
        guard ItemSeal.isSealed(item.value) else {
            guard !demandsSeal else { throw ItemError.notSealed(key: key) }
            return (item, false)
        }
        guard let secret = try await vault.record(secretName)?.content else {
            throw ItemError.sealedElsewhere(key: key)
        }
        let (type, value) = try ItemSeal(secret).open(item.value, at: try await place(of: key))
        return (StoredItem(key: key, type: type, modified: item.modified, value: value), true)
    }

    private func place(of key: String) async throws -> ItemSeal.Place {
        ItemSeal.Place(segment: segment, user: segment.needsUser ? try await user() : nil, key: key)
    }
}
