import Cryptography
import FoundationEssentials
import Groundwork
public import Vault

/// Items that the vault stores, in the scope of an account's gateway (MAG 11.2).
///
/// Each item is a record of the vault, so saving one is atomic and on disk when it returns. With a password, the value
/// is encrypted once more: who can open the vault cannot read it without.
///
/// Runs on ``NamedThread/storage``; keys are derived from passwords on ``NamedThread/keys``.
public actor LocalStorage {
    public nonisolated var unownedExecutor: UnownedSerialExecutor { NamedThread.storage.asUnownedSerialExecutor() }

    /// The most items of one account in all segments: the vault has room for 4096 records of everything.
    public static let countLimit = 256
    static let kind = RecordKind(rawValue: "item")

    private let vault: Vault
    private let scope: String
    private let now: @Sendable () -> Date
    private let passwords = ItemPasswords()

    /// - Parameter scope: of the account's records in the vault.
    public init(vault: Vault, scope: String, now: @escaping @Sendable () -> Date) {
        self.vault = vault
        self.scope = scope
        self.now = now
    }

    /// Whose items are meant, with the user's name if they are a user's.
    public enum Owner: Sendable, Equatable {
        case application
        case user(String)

        /// - Throws: ``ItemError/segmentInvalid``
        public init(_ segment: ItemSegment, user: String?) throws(ItemError) {
            switch (segment, user) {
            case (.application, _): self = .application
            case (.applicationUser, let user?): self = .user(user)
            default: throw .segmentInvalid
            }
        }

        /// What the names of the owner's records begin with. No key contains a slash, and a user's name can contain
        /// anything.
        var prefix: String {
            switch self {
            case .application: "item/application/"
            case .user(let name):
                LocalStorage.personalPrefix + Hex.encode(SHA256.hash(Array(name.utf8)).prefix(16)) + "/"
            }
        }
    }

    // MARK: Items

    /// Saves an item, new or in place of an earlier one.
    ///
    /// - Parameter password: encrypts the value, if there is one.
    /// - Throws: ``ItemError``
    public func save(
        _ key: String, _ value: [UInt8], type: String, of owner: Owner, password: SecretBytes? = nil
    ) async throws {
        let name = try name(key, owner)
        try StoredItem.check(type: type, value: value)
        let date = now().formatted(.iso8601)
        var record: [String: JSON] = ["type": .string(type), "modified": .string(date)]
        if let password {
            guard password.count > 0 else { throw ItemError.passwordMissing }
            let (salt, sealed) = try await passwords.seal(value, as: name, with: password)
            record["salt"] = .string(Base64.encode(salt))
            record["sealed"] = .string(Base64.encode(sealed))
        } else {
            record["value"] = .string(Base64.encode(value))
        }
        let content = SecretBytes(JSON.object(record).bytes)
        try await vaulted(.save) {
            let names = try await self.vault.names(scope: self.scope).filter { $0.name.hasPrefix(Self.prefix) }
            guard names.contains(name) || names.count < Self.countLimit else {
                throw ItemError.full(limit: Self.countLimit)
            }
            let isPersonal = Self.isPersonal(name)
            try await self.vault.commit([
                isPersonal ? .putPersonal(name, Self.kind, content) : .put(name, Self.kind, content)
            ])
        }
    }

    /// - Throws: ``ItemError``
    public func find(_ key: String, of owner: Owner, password: SecretBytes? = nil) async throws -> StoredItem {
        let name = try name(key, owner)
        guard let record = try await record(name, .load) else { throw ItemError.absent(key: key) }
        let type = record["type"]?.string ?? ""
        let modified = record["modified"]?.string
        if let value = record["value"]?.string.flatMap({ Base64.decode($0) }) {
            return StoredItem(key: key, type: type, modified: modified, value: value)
        }
        guard let salt = record["salt"]?.string.flatMap({ Base64.decode($0) }),
            let sealed = record["sealed"]?.string.flatMap({ Base64.decode($0) })
        else { throw ItemError.damaged(key: key) }
        guard let password else { throw ItemError.passwordRequired(key: key) }
        guard let value = try await passwords.open(sealed, as: name, salt: salt, with: password) else {
            throw ItemError.passwordWrong(key: key)
        }
        return StoredItem(key: key, type: type, modified: modified, value: value)
    }

    /// What an owner has stored, ordered by key.
    ///
    /// - Throws: ``ItemError``
    public func list(of owner: Owner) async throws -> [ItemEntry] {
        var entries: [ItemEntry] = []
        for name in try await names(of: owner, .find) {
            guard let record = try await record(name, .find) else { continue }
            entries.append(
                ItemEntry(
                    key: String(name.name.dropFirst(owner.prefix.count)), type: record["type"]?.string ?? "",
                    modified: record["modified"]?.string, isEncrypted: record["sealed"] != nil))
        }
        return entries
    }

    /// - Returns: whether there was such an item.
    /// - Throws: ``ItemError``
    public func delete(_ key: String, of owner: Owner) async throws -> Bool {
        let name = try name(key, owner)
        return try await vaulted(.delete) {
            guard try await self.vault.names(scope: self.scope).contains(name) else { return false }
            try await self.vault.commit([.remove(name)])
            return true
        }
    }

    /// Deletes all items of an owner, or none.
    ///
    /// - Returns: how many there were.
    /// - Throws: ``ItemError``
    public func deleteAll(of owner: Owner) async throws -> Int {
        let names = try await names(of: owner, .deleteAll)
        try await vaulted(.deleteAll) { try await self.vault.commit(names.map(Change.remove)) }
        return names.count
    }

    // MARK: Records

    private static let prefix = "item/"
    fileprivate static let personalPrefix = "item/user/"

    /// Whether a record is an item of a user, which is behind the vault's passcode if there is one.
    public static func isPersonal(_ name: RecordName) -> Bool { name.name.hasPrefix(personalPrefix) }

    /// - Throws: ``ItemError/keyMissing``, ``ItemError/keyInvalid(reason:)``
    private func name(_ key: String, _ owner: Owner) throws(ItemError) -> RecordName {
        try StoredItem.check(key: key)
        guard key.utf8.allSatisfy({ ASCII.isLetterOrDigit($0) || "-\\._".utf8.contains($0) }) else {
            throw .keyInvalid(reason: "it has characters that are not allowed here")
        }
        return RecordName(scope: scope, name: owner.prefix + key)
    }

    private func names(of owner: Owner, _ step: ItemError.Step) async throws -> [RecordName] {
        let prefix = owner.prefix
        return try await vaulted(step) {
            try await self.vault.names(scope: self.scope).filter { $0.name.hasPrefix(prefix) }
        }
    }

    private func record(_ name: RecordName, _ step: ItemError.Step) async throws -> JSON? {
        try await vaulted(step) {
            // Also one that a power cut has left outside of the passcode.
            if Self.isPersonal(name) { try await self.vault.requirePersonal() }
            return try await self.vault.record(name).flatMap { try? JSON(parsing: $0.content.exposed()) }
        }
    }

    /// Runs `body` and converts the vault's errors.
    private func vaulted<Value: Sendable>(
        _ step: ItemError.Step, _ body: @Sendable () async throws -> Value
    ) async throws -> Value {
        do {
            return try await body()
        } catch let error as VaultError where error.isOfLevel || error == .locked(path: vault.path) {
            throw ItemError.locked
        } catch let error as VaultError {
            var step = step
            if case .closed = error { step = .open }
            throw ItemError.vaultFailed(step, code: error.code, reason: error.message)
        }
    }
}
