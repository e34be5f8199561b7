import Cryptography
import Groundwork

/// Keys that are in hardware: a record of the vault has what their keeper needs.
extension Vault {
    /// Makes a key in hardware, and its record. A key that a crash leaves without a record is of no use to anyone.
    func makeKept(
        _ algorithm: PrivateKey.Algorithm, as reference: KeyReference, in scope: String,
        level: ProtectionLevel = .always
    ) async throws(VaultError) -> PrivateKey {
        let (name, keeper) = (reference.record(in: scope), try keeper(reference.keeper))
        guard name.isAllowed else { throw .nameNotAllowed(name: name, kind: .privateKey) }
        // Without a record, it would look like an orphan.
        await keyTurn.lock()
        defer { keyTurn.unlock() }
        let vaultID = try access().seal.vaultID
        let kept = try await KeyMaker.shared.key(algorithm, by: keeper, name: reference.name, of: vaultID)
        killPoint("hardware-key-made")
        do throws(VaultError) {
            let key = try key(kept, of: reference.keeper)
            try write([.put(name, .privateKey, kept.encoded(), level: level)])
            killPoint("hardware-key-stored")
            return key
        } catch {
            await KeyMaker.shared.destroy(kept, by: keeper, of: vaultID)
            throw error
        }
    }

    /// Destroys what crashes, or hardware that was not there, have left of this vault's keys in hardware.
    ///
    /// - Returns: how many keys it was.
    /// - Throws: ``VaultError``, also that of hardware that is not there. One keeper after the other; the rest is left.
    @discardableResult
    public func sweepHardware() async throws(VaultError) -> Int {
        await keyTurn.lock()
        defer { keyTurn.unlock() }
        var swept = 0
        for (kind, keeper) in keepers {
            let vaultID = try access().seal.vaultID
            let orphans = try await KeyMaker.shared.orphans(of: keeper, vaultID, known: keptKeys(of: kind))
            for orphan in orphans { await KeyMaker.shared.destroy(orphan, by: keeper, of: vaultID) }
            swept += orphans.count
        }
        return swept
    }

    private func keptKeys(of keeper: KeyReference.Keeper) throws(VaultError) -> [KeptKey] {
        var kept: [KeptKey] = []
        for scope in try scopes() {
            for name in try names(scope: scope) where KeyReference(name.name)?.keeper == keeper {
                if let key = try exposedRecord(name)?.keptKey() { kept.append(key) }
            }
        }
        return kept
    }

    /// The key itself: it signs where it is.
    func key(_ kept: KeptKey, of keeper: KeyReference.Keeper) throws(VaultError) -> PrivateKey {
        let signer = try self.keeper(keeper).signer(of: kept)
        return try explained { try PrivateKey(foreign: signer, publicKey: kept.publicKey) }
    }

    /// Those of the keys that changes remove which are in hardware. A record that cannot be read names none.
    func keptKeys(removedBy changes: [Change]) -> [(key: KeptKey, keeper: any KeyKeeper)] {
        changes.compactMap { change in
            guard case .remove(let name) = change, let reference = KeyReference(name.name),
                let keeper = keepers[reference.keeper],
                case .success(let kept) = Result(catching: { try exposedRecord(name)?.keptKey() })
            else { return nil }
            return kept.map { ($0, keeper) }
        }
    }

    private func keeper(_ keeper: KeyReference.Keeper) throws(VaultError) -> any KeyKeeper {
        guard let found = keepers[keeper] else { throw .keeperMissing(keeper) }
        return found
    }
}

extension KeptKey {
    private static let purpose = "kept key"

    func encoded() -> SecretBytes {
        var writer = FieldWriter(purpose: Self.purpose)
        writer.append(publicKey.spki)
        handle.withUnsafeBytes { writer.append($0) }
        return SecretBytes(writer.bytes)
    }

    /// `nil` for anything but ``encoded()``.
    init?(decoding content: SecretBytes) {
        let bytes = content.withUnsafeBytes { Array($0) }
        guard var reader = FieldReader(bytes, purpose: Self.purpose), let spki = reader.field(),
            let handle = reader.field(), reader.isAtEnd, let publicKey = try? PublicKey(spki: spki)
        else { return nil }
        self.init(publicKey: publicKey, handle: SecretBytes(handle))
    }
}

extension Record {
    /// - Throws: ``VaultError/keyInvalid(name:)`` for a record of another kind, or other content.
    func keptKey() throws(VaultError) -> KeptKey {
        guard kind == .privateKey, let key = KeptKey(decoding: content) else { throw .keyInvalid(name: name) }
        return key
    }
}
