import Cryptography

/// Seals and opens a vault's content with the keys below its root key.
///
/// Everything is AES-256-GCM with a random nonce. The type of the content, the vault's id, and a record's scope, name,
/// kind, version and key are authenticated with it (NIST SP 800-38D, additional authenticated data).
struct Seal {
    static let keyBytes = 32
    static let vaultIDBytes = 16
    /// The number of the root key among the data keys: in format 1 it sealed the records itself.
    static let rootKeyID: Int64 = 0

    let vaultID: [UInt8]
    /// Wrapped in each slot.
    let rootKey: SecretBytes
    /// Of the levels behind the passcode, those that are open.
    var levelKeys: [ProtectionLevel: LevelKey] = [:]

    // MARK: Data keys

    /// - Throws: `CryptographyError`
    func wrap(_ dataKey: SecretBytes, id: Int64, _ level: ProtectionLevel) throws -> [UInt8] {
        try AESGCM.seal(dataKey, key: wrappingKey(of: level), authenticating: label(ofKey: id, level))
    }

    /// `nil` when the bytes were changed, or wrapped for another place.
    func unwrap(_ wrapped: [UInt8], id: Int64, _ level: ProtectionLevel) throws -> SecretBytes? {
        let key = try AESGCM.openGenuine(wrapped, key: wrappingKey(of: level), authenticating: label(ofKey: id, level))
        return key.flatMap { $0.count == Self.keyBytes ? $0 : nil }
    }

    func wrappingKey(of level: ProtectionLevel) throws -> SecretBytes {
        try derived("latchkey level 1", level.rawValue)
    }

    func derived(_ purpose: String, _ part: String = "") throws -> SecretBytes {
        var info = FieldWriter(purpose: purpose)
        info.append(part)
        return try KeyDerivation.hkdf(secret: rootKey, salt: vaultID, info: info.bytes, count: Self.keyBytes)
    }

    func label(
        ofKey id: Int64, _ level: ProtectionLevel, _ purpose: String = "latchkey data key 1"
    ) -> [UInt8] {
        var writer = FieldWriter(purpose: purpose)
        writer.append(vaultID)
        writer.append(id)
        writer.append(level.rawValue)
        return writer.bytes
    }

    // MARK: Records

    /// - Parameter key: the data key of the entry.
    func seal(_ content: SecretBytes, as name: RecordName, _ entry: RecordEntry, key: SecretBytes) throws -> [UInt8] {
        try AESGCM.seal(content, key: key, authenticating: label(of: name, entry))
    }

    /// `nil` when the bytes were changed, or sealed for another place.
    func open(
        _ sealed: [UInt8], as name: RecordName, _ entry: RecordEntry, key: SecretBytes
    ) throws -> SecretBytes? {
        try AESGCM.openGenuine(sealed, key: key, authenticating: label(of: name, entry))
    }

    private func label(of name: RecordName, _ entry: RecordEntry) -> [UInt8] {
        var writer = FieldWriter(purpose: entry.key == Self.rootKeyID ? "latchkey record 1" : "latchkey record 2")
        writer.append(vaultID)
        writer.append(name.scope)
        writer.append(name.name)
        writer.append(entry.kind.rawValue)
        writer.append(entry.version)
        if entry.key != Self.rootKeyID { writer.append(entry.key) }
        return writer.bytes
    }

    // MARK: The list of records

    func seal(_ root: ManifestRoot) throws -> [UInt8] {
        try AESGCM.seal(
            SecretBytes(root.encoded()), key: manifestKey(), authenticating: label("latchkey manifest root seal 2"))
    }

    /// `nil` when the bytes were changed, or sealed for another place.
    func openRoot(_ sealed: [UInt8]) throws -> ManifestRoot? {
        let opened = try AESGCM.openGenuine(
            sealed, key: manifestKey(), authenticating: label("latchkey manifest root seal 2"))
        return opened.flatMap { ManifestRoot(decoding: $0.exposed()) }
    }

    func seal(_ page: ManifestPage, id: Int64) throws -> [UInt8] {
        try AESGCM.seal(SecretBytes(page.encoded()), key: manifestKey(), authenticating: label(ofPage: id))
    }

    /// `nil` when the bytes were changed, or sealed for another place.
    func openPage(_ sealed: [UInt8], id: Int64) throws -> ManifestPage? {
        let opened = try AESGCM.openGenuine(sealed, key: manifestKey(), authenticating: label(ofPage: id))
        return opened.flatMap { ManifestPage(decoding: $0.exposed()) }
    }

    /// Opens the list of format 1.
    func openManifest(_ sealed: [UInt8]) throws -> Manifest? {
        let opened = try AESGCM.openGenuine(sealed, key: rootKey, authenticating: label("latchkey manifest seal 1"))
        return opened.flatMap { Manifest(decoding: $0.exposed()) }
    }

    private func manifestKey() throws -> SecretBytes { try derived("latchkey manifest 2") }

    private func label(ofPage id: Int64) -> [UInt8] { label("latchkey manifest page seal 2", id) }

    private func label(_ purpose: String, _ number: Int64? = nil) -> [UInt8] {
        var writer = FieldWriter(purpose: purpose)
        writer.append(vaultID)
        if let number { writer.append(number) }
        return writer.bytes
    }
}

extension AESGCM {
    /// `nil` for bytes that this key did not seal with this label; throws other errors of the cipher.
    static func openGenuine(_ sealed: [UInt8], key: SecretBytes, authenticating label: [UInt8])
        throws(CryptographyError) -> SecretBytes?
    {
        do throws(CryptographyError) {
            return try open(sealed, key: key, authenticating: label)
        } catch {
            switch error {
            case .notAuthentic, .malformed(.sealedText, _), .tooLong(.sealedText, _, _): return nil
            default: throw error
            }
        }
    }
}
