public import Cryptography

/// Secrets of this board's own.
extension Vault {
    /// A secret of random bytes, which is made and stored when it is asked for the first time.
    ///
    /// - Throws: ``VaultError``
    public func secret(_ name: RecordName, _ kind: RecordKind, count: Int) throws(VaultError) -> SecretBytes {
        if let record = try record(name) { return record.content }
        let secret = try explained { try SecretBytes.random(count) }
        try commit([.put(name, kind, secret)])
        return secret
    }
}
