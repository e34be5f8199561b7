import Cryptography
import Groundwork

/// Encryption with symmetric keys that stay in the vault. The keys of one user ID are not those of another.
///
/// A key seals at most 2³² texts, as the nonces are random (NIST SP 800-38D section 8.3); then a new generation takes its
/// place by itself, and the old one still decrypts. The count is on disk before it is used, in steps: a restart skips
/// what is left of a step.
public actor CryptoService {
    /// The most symmetric keys and the most key pairs of one user.
    public static let keyLimit = 64
    private static let kind = RecordKind(rawValue: "symmetric-key")
    private static let prefix = "symmetric:"

    nonisolated let vault: Vault
    private let step: Int64
    private let textLimit: Int64
    /// Held while a key is made, which can take a minute in hardware.
    let making = AsyncMutex()
    /// Held while texts are counted, and while a key is removed.
    private let turn = AsyncMutex()
    /// How many reserved texts are left, by the id of a generation.
    private var left: [[UInt8]: Int64] = [:]

    public init(_ vault: Vault) { self.init(vault, step: 1 << 16, textLimit: 1 << 32) }

    /// - Parameters:
    ///   - step: how many texts are reserved in one commit.
    ///   - textLimit: how many texts a generation seals.
    init(_ vault: Vault, step: Int64, textLimit: Int64) {
        self.vault = vault
        self.step = step
        self.textLimit = textLimit
    }

    /// Whether a record is a symmetric key, which stays out of copies as private keys do.
    public static func isKey(_ kind: RecordKind) -> Bool { kind == Self.kind }

    /// Of the records of a user's keys.
    nonisolated static func scope(of owner: UInt32) -> String { "crypto-\(owner)" }

    private static func record(_ name: String, _ owner: UInt32) throws(ObjectError) -> RecordName {
        guard KeyReference(.software, name: name) != nil else { throw .nameNotAllowed }
        return RecordName(scope: scope(of: owner), name: prefix + name)
    }

    /// The names of a user's symmetric keys, sorted.
    ///
    /// - Throws: ``VaultError``
    public func keys(of owner: UInt32) async throws(VaultError) -> [String] {
        try await vault.names(scope: Self.scope(of: owner)).map(\.name).filter { $0.hasPrefix(Self.prefix) }
            .map { String($0.dropFirst(Self.prefix.count)) }
    }

    /// Makes a key.
    ///
    /// - Parameter name: 1 to 64 of a to z, 0 to 9 and `-`.
    /// - Throws: ``VaultError``, ``ObjectError/nameNotAllowed``, ``ObjectError/exists(name:)``,
    ///   ``ObjectError/full(limit:)``
    public func makeKey(_ name: String, of owner: UInt32, level: ProtectionLevel = .always) async throws {
        let record = try Self.record(name, owner)
        await making.lock()
        defer { making.unlock() }
        let keys = try await keys(of: owner)
        let pair = try await self.keys(ofPairs: owner).reference(named: name)
        guard !keys.contains(name), pair == nil else { throw ObjectError.exists(name: name) }
        guard keys.count < Self.keyLimit else { throw ObjectError.full(limit: Self.keyLimit) }
        try await vault.commit([.put(record, Self.kind, SymmetricKey.made(level).encoded(), level: level)])
    }

    /// Removes a key with all its generations, or a key pair: what it has encrypted cannot be decrypted any more.
    ///
    /// - Throws: ``VaultError``; ``ObjectError/notFound(name:)``, also when it was removed before.
    public func remove(_ name: String, of owner: UInt32) async throws {
        await turn.lock()
        defer { turn.unlock() }
        if try await keys(of: owner).contains(name) {
            if let key = try? await stored(name, owner).key { left[key.current.id] = nil }
            return try await vault.commit([.remove(Self.record(name, owner))])
        }
        guard try await keys(ofPairs: owner).remove(name) else { throw ObjectError.notFound(name: name) }
    }

    /// Encrypts a text, which only the same user's key of this name decrypts.
    ///
    /// - Parameter text: 1 byte to 1 MiB.
    /// - Returns: `LKE1`, the id of the key (16 bytes), nonce (12 bytes), cipher text, tag (16 bytes).
    /// - Throws: ``VaultError``, ``ObjectError/notFound(name:)``, ``ObjectError/damaged(name:)``,
    ///   `FormatError.emptyText`, `FormatError.tooLong`
    public func encrypt(_ text: SecretBytes, with name: String, of owner: UInt32) async throws -> [UInt8] {
        guard text.count > 0 else { throw FormatError.emptyText }
        guard text.count <= Envelope.limit else { throw FormatError.tooLong }
        let generation = try await countedGeneration(name, owner)
        let sealed = try AESGCM.seal(text, key: generation.key, authenticating: Envelope.label(of: owner, name))
        return Envelope(keyID: generation.id, sealed: sealed).bytes
    }

    /// Decrypts what ``encrypt(_:with:of:)`` made.
    ///
    /// - Throws: ``VaultError``, ``ObjectError/notFound(name:)``, ``ObjectError/damaged(name:)``;
    ///   `FormatError.undecryptable` for what was changed, or encrypted otherwise.
    public func decrypt(_ envelope: [UInt8], with name: String, of owner: UInt32) async throws -> SecretBytes {
        let key = try await stored(name, owner).key
        guard let envelope = Envelope(parsing: envelope),
            let generation = key.generations.first(where: { $0.id == envelope.keyID })
        else { throw FormatError.undecryptable }
        do throws(CryptographyError) {
            return try AESGCM.open(
                envelope.sealed, key: generation.key, authenticating: Envelope.label(of: owner, name))
        } catch {
            guard error == .notAuthentic else { throw error }
            throw FormatError.undecryptable
        }
    }

    /// The generation that seals the next text, which is counted.
    private func countedGeneration(_ name: String, _ owner: UInt32) async throws -> SymmetricKey.Generation {
        await turn.lock()
        defer { turn.unlock() }
        var (record, key) = try await stored(name, owner)
        if left[key.current.id, default: 0] == 0 {
            left[key.current.id] = nil
            try key.reserve(step, limit: textLimit)
            try await vault.commit([.put(record, Self.kind, key.encoded(), level: key.level)])
            left[key.current.id] = step
        }
        left[key.current.id, default: 0] -= 1
        return key.current
    }

    private func stored(_ name: String, _ owner: UInt32) async throws -> (record: RecordName, key: SymmetricKey) {
        guard let record = try? Self.record(name, owner), let found = try await vault.record(record) else {
            throw ObjectError.notFound(name: name)
        }
        guard found.kind == Self.kind, let key = SymmetricKey(decoding: found.content) else {
            throw ObjectError.damaged(name: name)
        }
        return (record, key)
    }
}
