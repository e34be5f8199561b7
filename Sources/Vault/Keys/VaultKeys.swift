@_spi(KeyBytes) import Cryptography
import Groundwork

/// Keys of one scope, each with a sealed record: the key itself, which signs in this process's memory, or what its
/// ``KeyKeeper`` needs to sign with it.
public struct VaultKeys: KeyStore {
    private let vault: Vault
    private let scope: String

    fileprivate init(_ vault: Vault, scope: String) {
        self.vault = vault
        self.scope = scope
    }

    public func make(
        _ algorithm: PrivateKey.Algorithm, label: String, in keeper: KeyReference.Keeper
    ) async throws(VaultError) -> StoredKey {
        let reference = try explained { try KeyReference.fresh(keeper, label: label) }
        guard let reference else {
            throw .nameNotAllowed(name: RecordName(scope: scope, name: label), kind: .privateKey)
        }
        // Fail before generating a key, which can take seconds, if it cannot be stored.
        try await vault.check()
        guard keeper == .software else {
            return StoredKey(
                reference: reference, key: try await vault.makeKept(algorithm, as: reference, in: scope))
        }
        let key = try await Self.newKey(algorithm)
        try await vault.keep(key, as: reference, in: scope)
        return StoredKey(reference: reference, key: key)
    }

    /// Generates a key, under a chosen name.
    ///
    /// - Parameter level: of its record.
    /// - Throws: ``VaultError``; ``VaultError/keyExists(name:)``
    public func make(
        _ algorithm: PrivateKey.Algorithm, as reference: KeyReference, level: ProtectionLevel = .always
    ) async throws(VaultError) -> PrivateKey {
        try await vault.checkNew(reference, in: scope)
        guard reference.keeper == .software else {
            return try await vault.makeKept(algorithm, as: reference, in: scope, level: level)
        }
        let key = try await Self.newKey(algorithm)
        try await vault.keepNew(key, as: reference, in: scope, level: level)
        return key
    }

    /// Stores a key that was made elsewhere, under a chosen name.
    ///
    /// - Parameter pem: text with an unencrypted PKCS#8 key (RFC 7468 section 10).
    /// - Throws: ``VaultError``; ``VaultError/keyExists(name:)``, and ``VaultError/cryptography(_:)`` if the text holds
    ///   no such key, or one that is too weak or of another kind.
    public func adopt(pem: SecretBytes, as reference: KeyReference) async throws(VaultError) -> PrivateKey {
        let key = try explained { try PrivateKey(pem: pem) }
        try await vault.keepNew(key, as: reference, in: scope)
        return key
    }

    /// Stores the key of a PKCS#12 file (RFC 7292), under a chosen name.
    ///
    /// - Throws: ``VaultError``; ``VaultError/keyExists(name:)``, and ``VaultError/cryptography(_:)`` if the file does
    ///   not hold exactly one key, or one that is too weak or of another kind, or has another password.
    public func adopt(
        pkcs12 file: SecretBytes, password: SecretBytes, as reference: KeyReference
    ) async throws(VaultError) -> PrivateKey {
        try await vault.check()
        let key: PrivateKey
        do throws(CryptographyError) {
            key = try await KeyMaker.shared.key(pkcs12: file, password: password)
        } catch {
            throw .cryptography(error)
        }
        try await vault.keepNew(key, as: reference, in: scope)
        return key
    }

    private static func newKey(_ algorithm: PrivateKey.Algorithm) async throws(VaultError) -> PrivateKey {
        do throws(CryptographyError) {
            return try await KeyMaker.shared.key(algorithm)
        } catch {
            throw .cryptography(error)
        }
    }

    public func key(_ reference: KeyReference) async throws(VaultError) -> PrivateKey? {
        try await vault.key(reference, in: scope)
    }

    public func references() async throws(VaultError) -> Set<KeyReference> { try await vault.keyReferences(in: scope) }

    public func removal(of reference: KeyReference) -> [Change] { [.remove(reference.record(in: scope))] }

    @discardableResult
    public func sweep(keeping kept: Set<KeyReference>) async throws(VaultError) -> Set<KeyReference> {
        try await vault.sweepKeys(in: scope, keeping: kept)
    }
}

extension Vault {
    /// The keys of a scope.
    public nonisolated func keys(of scope: String) -> VaultKeys { VaultKeys(self, scope: scope) }

    /// - Throws: ``VaultError`` when the vault is locked or closed.
    fileprivate func check() throws(VaultError) { _ = try access() }

    fileprivate func keep(
        _ key: PrivateKey, as reference: KeyReference, in scope: String, level: ProtectionLevel = .always
    ) throws(VaultError) {
        let name = reference.record(in: scope)
        let content = try explained { try key.pkcs8() }
        guard name.isAllowed else { throw VaultError.nameNotAllowed(name: name, kind: .privateKey) }
        try write([.put(name, .privateKey, content, level: level)])
    }

    /// - Throws: ``VaultError/keyExists(name:)``
    fileprivate func keepNew(
        _ key: PrivateKey, as reference: KeyReference, in scope: String, level: ProtectionLevel = .always
    ) throws(VaultError) {
        try checkNew(reference, in: scope)
        try keep(key, as: reference, in: scope, level: level)
    }

    /// - Throws: ``VaultError/keyExists(name:)``
    func checkNew(_ reference: KeyReference, in scope: String) throws(VaultError) {
        let name = reference.record(in: scope)
        guard try !names(scope: scope).contains(name) else { throw .keyExists(name: name) }
    }

    fileprivate func key(_ reference: KeyReference, in scope: String) throws(VaultError) -> PrivateKey? {
        try exposedRecord(reference.record(in: scope)).map { record throws(VaultError) in
            try reference.keeper == .software ? record.key() : key(record.keptKey(), of: reference.keeper)
        }
    }

    fileprivate func keyReferences(in scope: String) throws(VaultError) -> Set<KeyReference> {
        Set(try names(scope: scope).compactMap { KeyReference($0.name) })
    }

    fileprivate func sweepKeys(
        in scope: String, keeping kept: Set<KeyReference>
    ) throws(VaultError) -> Set<KeyReference> {
        let swept = try keyReferences(in: scope).subtracting(kept)
        try write(swept.map { .remove($0.record(in: scope)) })
        return swept
    }
}

extension Record {
    /// - Throws: ``VaultError/keyInvalid(name:)`` for a record of another kind, or content that is not a private key.
    func key() throws(VaultError) -> PrivateKey {
        guard kind == .privateKey, let key = try? PrivateKey(pkcs8: content) else { throw .keyInvalid(name: name) }
        return key
    }
}
