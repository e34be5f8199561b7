import Cryptography
import Groundwork

/// Private keys of one owner under names of its choice, at most a fixed number of them.
public struct NamedKeys: Sendable {
    /// Where a key comes from.
    public enum Source: Sendable {
        /// It is made.
        case made(PrivateKey.Algorithm, in: KeyReference.Keeper = .software, level: ProtectionLevel = .always)
        /// Text with an unencrypted PKCS#8 key.
        case pem(SecretBytes)
        /// A file of RFC 7292.
        case pkcs12(SecretBytes, password: SecretBytes)
    }

    private let vault: Vault
    private let keys: VaultKeys
    private let limit: Int

    public init(_ vault: Vault, scope: String, limit: Int) {
        self.vault = vault
        self.limit = limit
        keys = vault.keys(of: scope)
    }

    /// By name.
    public func all() async throws(VaultError) -> [(reference: KeyReference, key: PublicKey)] {
        var all: [(reference: KeyReference, key: PublicKey)] = []
        for reference in try await keys.references().sorted(by: { $0.name < $1.name }) {
            guard let key = try await keys.key(reference) else { continue }
            all.append((reference, key.publicKey))
        }
        return all
    }

    /// - Throws: ``VaultError``, ``ObjectError/nameNotAllowed``, ``ObjectError/exists(name:)``,
    ///   ``ObjectError/full(limit:)``, ``ObjectError/keeperUnfit(_:)``
    public func add(_ name: String, from source: Source) async throws -> PublicKey {
        var keeper = KeyReference.Keeper.software
        if case .made(_, let place, _) = source { keeper = place }
        guard let reference = KeyReference(keeper, name: name) else { throw ObjectError.nameNotAllowed }
        let references = try await keys.references()
        guard !references.contains(where: { $0.name == name }) else { throw ObjectError.exists(name: name) }
        guard references.count < limit else { throw ObjectError.full(limit: limit) }
        guard vault.keepers[keeper]?.makesNewKeys ?? true else { throw ObjectError.keeperUnfit(keeper) }
        switch source {
        case .made(let algorithm, _, let level):
            return try await keys.make(algorithm, as: reference, level: level).publicKey
        case .pem(let pem): return try await keys.adopt(pem: pem, as: reference).publicKey
        case .pkcs12(let file, let password):
            return try await keys.adopt(pkcs12: file, password: password, as: reference).publicKey
        }
    }

    /// - Returns: `nil` when there is no such key.
    /// - Throws: ``VaultError``
    public func key(named name: String) async throws(VaultError) -> PrivateKey? {
        guard let reference = try await reference(named: name) else { return nil }
        return try await keys.key(reference)
    }

    /// - Returns: whether it was there.
    /// - Throws: ``VaultError``
    public func remove(_ name: String) async throws(VaultError) -> Bool {
        guard let reference = try await reference(named: name) else { return false }
        try await vault.commit(keys.removal(of: reference))
        return true
    }

    func reference(named name: String) async throws(VaultError) -> KeyReference? {
        try await keys.references().first { $0.name == name }
    }
}
