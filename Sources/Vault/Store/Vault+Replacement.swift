import Storage

/// When a damaged vault makes room for a new one.
extension Vault {
    /// Moves a damaged vault, which must not be open, to `NAME.damaged-DATE`, so that a new one can be created.
    ///
    /// Only if the vault is damaged, and each of its slots is of a kind that can be made again
    /// (``Slot/Kind/isReplaceable``), and there is no passcode: a new vault beside an intact copy must not be a way
    /// around a key in hardware, or to more tries of a passcode. If the damage hides the slots, the kinds of the keys
    /// decide.
    ///
    /// - Parameters:
    ///   - fault: why the vault did not open.
    ///   - keys: what it should have opened with.
    /// - Returns: its new path.
    /// - Throws: `fault`, if the vault must stay where it is; ``VaultError``
    public static func setAside(
        at path: String, after fault: VaultError, with keys: [any SlotKey]
    ) throws(VaultError) -> String {
        guard fault.isDamage else { throw fault }
        let kinds = slotKinds(at: path) ?? []
        guard kinds.union(keys.map(\.kind)).allSatisfy(\.isReplaceable), !hasPasscode(at: path) else { throw fault }
        return try explained { try Database.setAside(path) }
    }

    /// The kinds of all slots; `nil` if they cannot be read.
    private static func slotKinds(at path: String) -> Set<Slot.Kind>? {
        guard let file = try? VaultFile(at: path) else { return nil }
        defer { file.database.close() }
        return try? file.slotKinds()
    }

    /// Whether a passcode can be seen, as far as the file can be read.
    private static func hasPasscode(at path: String) -> Bool {
        guard let file = try? VaultFile(at: path) else { return false }
        defer { file.database.close() }
        return (try? file.hasPasscode()) ?? false
    }
}
