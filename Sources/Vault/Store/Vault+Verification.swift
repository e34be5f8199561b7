import Storage

extension Vault {
    /// Checks everything: each listed record, and each row that is not listed.
    ///
    /// - Returns: the faults of single records, sorted by name, and before them ``VaultError/manifestDamaged(path:)`` if
    ///   a page of the list is damaged, whose records are left out; empty if there are none.
    /// - Throws: ``VaultError`` when the vault as a whole cannot be read.
    public func faults() throws(VaultError) -> [VaultError] {
        let unsealed = try access()
        return try explained {
            try unsealed.file.database.snapshot {
                let root = try root(unsealed)
                var (faults, damaged) = ([VaultError](), Set<Int64>())
                var names = Set(try unsealed.file.rowNames())
                for page in root.pages {
                    do {
                        let entries = try unsealed.file.page(page, unsealed.seal).entries
                        names.formUnion(entries.keys.map { RecordName(scope: page.scope, name: $0) })
                    } catch let error as VaultError {
                        damaged.insert(page.id)
                        if faults.isEmpty { faults.append(error) }
                    }
                }
                let readable = names.filter { name in
                    root.place(of: name).map { !damaged.contains(root.pages[$0].id) } ?? true
                }
                return try faults
                    + readable.sorted().compactMap { name in
                        do {
                            _ = try read(name, root, unsealed)
                            return nil
                        } catch let error as VaultError {
                            return error
                        }
                    }
            }
        }
    }
}
