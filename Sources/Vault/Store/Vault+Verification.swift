import Storage

extension Vault {
    /// Checks everything: each listed record, and each row that is not listed.
    ///
    /// - Returns: the faults of single records, sorted by name; empty if there are none.
    /// - Throws: ``VaultError`` when the vault as a whole cannot be read.
    public func faults() throws(VaultError) -> [VaultError] {
        let unsealed = try access()
        return try explained {
            try unsealed.file.database.snapshot {
                let manifest = try manifest(unsealed)
                let names = Set(manifest.entries.keys).union(try unsealed.file.rowNames())
                return try names.sorted().compactMap { name in
                    do {
                        _ = try read(name, manifest, unsealed)
                        return nil
                    } catch let error as VaultError {
                        return error
                    }
                }
            }
        }
    }
}
