import Cryptography
import Groundwork

/// Credentials of programs under keys of their choice. Those of one user ID are not those of another.
///
/// A deleted credential leaves its key, which then reads as empty (OAMMS A37), until it is forgotten.
public final class CredentialStore: Sendable {
    /// The maximum size of a key, in bytes.
    public static let nameLimit = 255
    /// The most keys of one user.
    public static let countLimit = 256

    private static let kindPrefix = "credential-"

    private let vault: Vault
    private let turn = AsyncMutex()

    public init(_ vault: Vault) { self.vault = vault }

    /// Of a credential, in the list.
    public struct Entry: Sendable, Equatable {
        public let name: String
        /// `nil` while its level is locked.
        public let credential: Credential?
    }

    // MARK: Levels

    private static func kind(_ level: LevelName) -> RecordKind { RecordKind(rawValue: kindPrefix + level.rawValue) }

    private static func level(_ kind: RecordKind) -> LevelName? {
        guard kind.rawValue.hasPrefix(kindPrefix) else { return nil }
        return LevelName(rawValue: String(kind.rawValue.dropFirst(kindPrefix.count)))
    }

    /// The records that go behind the passcode with the first one.
    public func personalRecords() async throws(VaultError) -> [RecordName] {
        var personal: [RecordName] = []
        for scope in try await vault.scopes() where scope.hasPrefix(Self.scopePrefix) {
            for name in try await vault.names(scope: scope) {
                do throws(VaultError) {
                    guard let kind = try await vault.record(name)?.kind, Self.level(kind)?.level == .unlocked else {
                        continue
                    }
                    personal.append(name)
                } catch  where error.isOfLevel || error.isOfRecord {}
            }
        }
        return personal
    }

    /// Whether a record is a credential of this board alone.
    public static func isThisDeviceOnly(_ kind: RecordKind) -> Bool { level(kind)?.isThisDeviceOnly ?? false }

    // MARK: Names

    /// - Throws: ``ObjectError/nameNotAllowed``
    static func check(_ name: String) throws(ObjectError) {
        let isAllowed = name.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: false
            default: scalar != "/"
            }
        }
        guard isAllowed, (1...nameLimit).contains(name.utf8.count) else { throw .nameNotAllowed }
    }

    private static let scopePrefix = "credentials-"
    private static func scope(of owner: UInt32) -> String { scopePrefix + String(owner) }

    /// A name of a record is visible ASCII: what another key is called is in the record, and a hash of it in its name.
    private static func record(_ name: String, _ owner: UInt32) throws(ObjectError) -> RecordName {
        try check(name)
        let isPlain = name.utf8.count < nameLimit && name.utf8.allSatisfy { (0x20...0x7E).contains($0) }
        return RecordName(
            scope: scope(of: owner), name: isPlain ? "=" + name : "#" + Hex.encode(SHA256.hash(name.utf8)))
    }

    // MARK: Credentials

    /// What a user has stored, ordered by key. While a level is locked, only those of its keys are listed that are
    /// ASCII.
    ///
    /// - Throws: ``VaultError``, ``ObjectError/damaged(name:)``
    public func list(of owner: UInt32) async throws -> [Entry] {
        var entries: [Entry] = []
        for record in try await vault.names(scope: Self.scope(of: owner)) {
            do {
                guard let found = try await read(record) else { continue }
                entries.append(Entry(name: found.name, credential: found.credential))
            } catch VaultError.levelLocked where record.name.hasPrefix("=") {
                entries.append(Entry(name: String(record.name.dropFirst()), credential: nil))
            } catch VaultError.levelLocked {}
        }
        return entries.sorted { $0.name < $1.name }
    }

    /// - Throws: ``VaultError``, ``ObjectError/notFound(name:)``, ``ObjectError/nameNotAllowed``,
    ///   ``ObjectError/damaged(name:)``
    public func get(_ name: String, of owner: UInt32) async throws -> Credential {
        guard let found = try await read(Self.record(name, owner)) else { throw ObjectError.notFound(name: name) }
        return found.credential
    }

    /// Stores a credential, or replaces one, which keeps its properties.
    ///
    /// - Parameter isNew: whether one that is there, and not empty, is refused.
    /// - Throws: ``VaultError``, ``ObjectError``, `FormatError.tooLong`
    public func put(
        _ credential: Credential, as name: String, isNew: Bool = false, of owner: UInt32
    ) async throws {
        try await change(name, of: owner, isPresent: false) { before in
            guard !isNew || before?.isEmpty ?? true else { throw ObjectError.exists(name: name) }
            var after = credential
            after.properties = before?.properties ?? [:]
            return after
        }
    }

    /// Sets a property of a credential, or removes it.
    ///
    /// - Throws: ``VaultError``, ``ObjectError``, `FormatError.tooLong`
    public func setProperty(
        _ property: String, to value: Credential.Property?, of name: String, of owner: UInt32
    ) async throws {
        try await change(name, of: owner, isPresent: true) { before in
            var after = before
            guard value != nil || after?.properties[property] != nil else {
                throw ObjectError.notFound(name: property)
            }
            after?.properties[property] = value
            return after
        }
    }

    /// Empties a credential; its key stays.
    ///
    /// - Throws: ``VaultError``, ``ObjectError/notFound(name:)``
    public func delete(_ name: String, of owner: UInt32) async throws {
        try await change(name, of: owner, isPresent: true) { $0.map { Credential(level: $0.level) } }
    }

    /// Removes a credential with its key. Does not need its level to be open.
    ///
    /// - Throws: ``VaultError``, ``ObjectError/notFound(name:)``
    public func forget(_ name: String, of owner: UInt32) async throws {
        let record = try Self.record(name, owner)
        await turn.lock()
        defer { turn.unlock() }
        guard try await vault.names(scope: record.scope).contains(record) else {
            throw ObjectError.notFound(name: name)
        }
        try await vault.commit([.remove(record)])
    }

    private func read(_ record: RecordName) async throws -> (name: String, credential: Credential)? {
        guard let found = try await vault.record(record) else { return nil }
        guard let read = Credential.decode(found.content), Self.level(found.kind) == read.credential.level else {
            throw ObjectError.damaged(name: String(record.name.dropFirst()))
        }
        return read
    }

    /// - Parameter isPresent: whether one has to be there.
    private func change(
        _ name: String, of owner: UInt32, isPresent: Bool, _ body: (Credential?) throws -> Credential?
    ) async throws {
        let record = try Self.record(name, owner)
        await turn.lock()
        defer { turn.unlock() }
        let before = try await read(record)?.credential
        guard before != nil || !isPresent else { throw ObjectError.notFound(name: name) }
        guard let after = try body(before) else { return }
        try after.check()
        if before == nil, try await vault.names(scope: record.scope).count >= Self.countLimit {
            throw ObjectError.full(limit: Self.countLimit)
        }
        try await commit(after.encoded(name: name), record, after.level)
    }

    /// While the vault has no levels behind a passcode, it has only the one that is always open.
    private func commit(_ content: SecretBytes, _ record: RecordName, _ level: LevelName) async throws(VaultError) {
        let kind = Self.kind(level)
        switch level.level {
        case .always: try await vault.commit([.put(record, kind, content)])
        case .unlocked: try await vault.commit([.putPersonal(record, kind, content)])
        case .firstUnlock:
            do throws(VaultError) {
                try await vault.commit([.put(record, kind, content, level: .firstUnlock)])
            } catch {
                guard error == .passcode(.noPasscode) else { throw error }
                try await vault.commit([.put(record, kind, content)])
            }
        }
    }
}
