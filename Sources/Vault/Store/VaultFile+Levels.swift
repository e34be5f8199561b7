import Cryptography
import Storage

/// The rows of the data keys behind the passcode: one for each of its levels, or none.
extension VaultFile {
    /// The numbers of the data keys behind the passcode.
    func levelKeyIDs() throws -> Set<Int64> { Set(try levelRows().map(\.id)) }

    private func levelRows() throws -> [KeyRow] {
        try ProtectionLevel.behindPasscode.compactMap { level in
            try database.first(
                "SELECT id, wrapped FROM key WHERE level = ?1 ORDER BY id DESC", .text(level.rawValue),
                read: { KeyRow(id: $0.int64(0), level: level, wrapped: $0.blob(1)) })
        }
    }

    /// Whether a passcode wraps the keys of levels, as far as their length shows.
    func hasPasscode() throws -> Bool {
        try levelRows().contains { $0.wrapped.count > Seal.leastBytes + Seal.keyBytes }
    }

    /// The open key of a level, with which its records are written.
    ///
    /// - Throws: ``VaultError/levelLocked(path:level:)``, ``PasscodeError/noPasscode``
    func levelKey(_ level: ProtectionLevel, _ seal: Seal) throws -> LevelKey {
        if let open = seal.levelKeys[level] { return open }
        guard try levelRows().contains(where: { $0.level == level }) else { throw PasscodeError.noPasscode }
        throw VaultError.levelLocked(path: path, level: level)
    }

    /// Whether the root key has wrapped it for its place.
    func isGenuine(_ row: KeyRow, _ seal: Seal) throws -> Bool {
        if try seal.unwrap(row.wrapped, id: row.id, row.level) != nil { return true }
        return try seal.unwrapOuter(row.wrapped, id: row.id, row.level) != nil
    }

    /// Makes the keys of all levels behind the passcode, in place of those that there are.
    ///
    /// - Parameter passcodeKey: `nil` to wrap them by the root key alone.
    func makeLevelKeys(_ seal: Seal, passcodeKey: SecretBytes?) throws -> [ProtectionLevel: LevelKey] {
        try removeLevelKeys()
        var keys: [ProtectionLevel: LevelKey] = [:]
        for level in ProtectionLevel.behindPasscode {
            let id = try addKey(level, seal)
            guard let key = try keyRow(id).flatMap({ try seal.unwrap($0.wrapped, id: id, level) }) else {
                throw VaultError.manifestDamaged(path: path)
            }
            keys[level] = LevelKey(id: id, key: key)
        }
        try writeLevelKeys(keys, seal, passcodeKey: passcodeKey)
        return keys
    }

    /// Wraps the keys of all levels behind the passcode again.
    ///
    /// - Parameter passcodeKey: `nil` to wrap them by the root key alone.
    func writeLevelKeys(_ keys: [ProtectionLevel: LevelKey], _ seal: Seal, passcodeKey: SecretBytes?) throws {
        for (level, key) in keys {
            guard let passcodeKey else {
                try writeKey(key.id, try seal.wrap(key.key, id: key.id, level))
                continue
            }
            try writeKey(key.id, try seal.wrap(key.key, id: key.id, level, passcodeKey: passcodeKey))
        }
    }

    /// Opens the keys of all levels behind the passcode.
    ///
    /// - Parameter passcodeKey: `nil` for keys that the root key alone wraps.
    /// - Returns: `nil` for another passcode's key.
    /// - Throws: ``PasscodeError/tampered`` if a key is missing or changed, or the passcode's key opens only some.
    func levelKeys(_ seal: Seal, passcodeKey: SecretBytes?) throws -> [ProtectionLevel: LevelKey]? {
        var (keys, isWrong) = ([ProtectionLevel: LevelKey](), false)
        for row in try checkedLevelRows(seal, isSet: passcodeKey != nil) {
            if let key = try opened(row, seal, passcodeKey) {
                keys[row.level] = LevelKey(id: row.id, key: key)
            } else {
                isWrong = true
            }
        }
        guard isWrong else { return keys }
        guard keys.isEmpty else { throw PasscodeError.tampered }
        return nil
    }

    private func opened(_ row: KeyRow, _ seal: Seal, _ passcodeKey: SecretBytes?) throws -> SecretBytes? {
        guard let passcodeKey else { return try seal.unwrap(row.wrapped, id: row.id, row.level) }
        return try seal.unwrapOuter(row.wrapped, id: row.id, row.level)
            .flatMap { try seal.unwrap($0, id: row.id, row.level, passcodeKey: passcodeKey) }
    }

    /// Checks that the keys of all levels behind the passcode are there, as far as the root key shows.
    ///
    /// - Parameter isSet: whether the passcode's key has to wrap them, too.
    /// - Throws: ``PasscodeError/tampered``
    func checkLevelKeys(_ seal: Seal, isSet: Bool) throws { _ = try checkedLevelRows(seal, isSet: isSet) }

    private func checkedLevelRows(_ seal: Seal, isSet: Bool) throws -> [KeyRow] {
        let rows = try levelRows()
        guard rows.count == ProtectionLevel.behindPasscode.count else { throw PasscodeError.tampered }
        for row in rows {
            let isThere =
                isSet
                ? try seal.unwrapOuter(row.wrapped, id: row.id, row.level) != nil
                : try seal.unwrap(row.wrapped, id: row.id, row.level) != nil
            guard isThere else { throw PasscodeError.tampered }
        }
        return rows
    }

    /// Destroys the keys of all levels behind the passcode. Their numbers stay, which name the records to remove.
    func destroyLevelKeys() throws {
        for id in try levelKeyIDs() { try writeKey(id, []) }
    }

    func removeLevelKeys() throws {
        for level in ProtectionLevel.behindPasscode {
            try database.run("DELETE FROM key WHERE level = ?1", .text(level.rawValue))
        }
    }
}
