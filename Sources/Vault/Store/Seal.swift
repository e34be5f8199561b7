import Cryptography

/// Seals and opens a vault's content with its data key.
///
/// Everything is AES-256-GCM with a random nonce. The type of the content (record or manifest), the vault's id, and a
/// record's scope, name, kind and version are authenticated with it (NIST SP 800-38D, additional authenticated data).
struct Seal {
    static let keyBytes = 32
    static let vaultIDBytes = 16

    let vaultID: [UInt8]
    let dataKey: SecretBytes

    func seal(_ content: SecretBytes, as name: RecordName, _ entry: Manifest.Entry) throws -> [UInt8] {
        try AESGCM.seal(content, key: dataKey, authenticating: label(of: name, entry))
    }

    /// `nil` when the bytes were changed, or sealed for another place.
    func open(_ sealed: [UInt8], as name: RecordName, _ entry: Manifest.Entry) throws -> SecretBytes? {
        try AESGCM.openGenuine(sealed, key: dataKey, authenticating: label(of: name, entry))
    }

    func seal(_ manifest: Manifest) throws -> [UInt8] {
        try AESGCM.seal(SecretBytes(manifest.encoded()), key: dataKey, authenticating: manifestLabel)
    }

    /// `nil` when the bytes were changed, or sealed for another place.
    func openManifest(_ sealed: [UInt8]) throws -> Manifest? {
        let opened = try AESGCM.openGenuine(sealed, key: dataKey, authenticating: manifestLabel)
        return opened.flatMap { Manifest(decoding: $0.exposed()) }
    }

    private func label(of name: RecordName, _ entry: Manifest.Entry) -> [UInt8] {
        var writer = FieldWriter(purpose: "latchkey record 1")
        writer.append(vaultID)
        writer.append(name.scope)
        writer.append(name.name)
        writer.append(entry.kind.rawValue)
        writer.append(entry.version)
        return writer.bytes
    }

    private var manifestLabel: [UInt8] {
        var writer = FieldWriter(purpose: "latchkey manifest seal 1")
        writer.append(vaultID)
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
