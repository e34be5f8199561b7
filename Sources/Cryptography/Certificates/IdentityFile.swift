/// Private keys with their certificates, as other programs put them into one file: PKCS#12 (RFC 7292), or PEM with keys
/// in PKCS#8 (RFC 7468).
public enum IdentityFile {
    /// The maximum size of a file, in bytes.
    public static let limit = PKCS12File.limit
    /// The maximum number of certificates from a key's own to that of an authority.
    static let chainLimit = 8

    /// A key with the certificates that belong to it.
    public struct Found: Sendable {
        public let identity: TLSIdentity
        /// What the file calls it.
        public let name: String?
    }

    /// Reads every private key of a file, each with its certificate and those of its authorities. A file with a password
    /// takes up to seconds on a small board, too long for the cooperative pool.
    ///
    /// - Parameter password: empty for a file without one.
    /// - Throws: ``CryptographyError``, such as ``CryptographyError/wrongPassword(_:)``, ``CryptographyError/noKey(_:)``,
    ///   ``CryptographyError/noCertificate(_:)``, ``CryptographyError/noCertificateFits(_:)``,
    ///   ``CryptographyError/unsupportedEncryption(_:algorithm:)``
    @_spi(KeyBytes) public static func identities(
        in file: SecretBytes, password: SecretBytes
    ) throws(CryptographyError) -> [Found] {
        guard file.count <= limit else { throw .tooLong(.identityFile, count: file.count, limit: limit) }
        // The tag of a sequence, with which no text of PEM begins.
        let isDER = file.withUnsafeBytes { $0.first == 0x30 }
        return try (isDER ? PKCS12File(file).contents(password) : Contents(pem: file, password)).identities()
    }

    /// What is in a file, before it is put together.
    struct Contents {
        struct Key {
            let key: PrivateKey
            let name: String?
        }

        var keys: [Key] = []
        var certificates: [Certificate] = []

        /// - Throws: ``CryptographyError/noKey(_:)``, ``CryptographyError/noCertificate(_:)``,
        ///   ``CryptographyError/noCertificateFits(_:)``
        func identities() throws(CryptographyError) -> [Found] {
            guard !keys.isEmpty else { throw .noKey(.identityFile) }
            guard !certificates.isEmpty else { throw .noCertificate(.identityFile) }
            var found: [Found] = []
            for (key, name) in keys.map({ ($0.key, $0.name) }) {
                guard !found.contains(where: { $0.identity.key.publicKey == key.publicKey }) else { continue }
                let chain = IdentityFile.chain(of: key.publicKey, in: certificates)
                guard !chain.isEmpty else { throw .noCertificateFits(.identityFile) }
                found.append(Found(identity: TLSIdentity(key: key, chain: chain), name: name))
            }
            return found
        }
    }

    /// The newest certificate of a key, then each issuer that is there. Empty if no certificate is for the key.
    public static func chain(of key: PublicKey, in certificates: [Certificate]) -> [Certificate] {
        let leaf = certificates.filter { $0.publicKey == key }.max { $0.notAfter < $1.notAfter }
        var chain = [leaf].compactMap { $0 }
        while chain.count < chainLimit, let last = chain.last,
            let issuer = certificates.first(where: { !chain.contains($0) && last.isIssued(by: $0) })
        {
            chain.append(issuer)
        }
        return chain
    }
}

extension IdentityFile.Contents {
    /// - Throws: ``CryptographyError`` that names the line of what cannot be read.
    init(pem: SecretBytes, _ password: SecretBytes) throws(CryptographyError) {
        let text = pem.exposedText()
        let blocks = try PEM.blocks(in: text, .identityFile)
        guard !blocks.isEmpty else {
            throw .malformed(.identityFile, reason: "it is neither PKCS#12 nor PEM with a line -----BEGIN …-----")
        }
        guard blocks.count <= PKCS12File.bagLimit else {
            throw .malformed(
                .identityFile, reason: "it has more than \(PKCS12File.bagLimit) keys and certificates")
        }
        let decryption = PasswordDecryption(.privateKey)
        for block in blocks where block.label.hasSuffix("PRIVATE KEY") {
            keys.append(Key(key: try Self.key(in: block, password, decryption), name: nil))
        }
        certificates = try Certificate.all(inPEM: text)
    }

    private static func key(
        in block: PEM.Block, _ password: SecretBytes, _ decryption: PasswordDecryption
    ) throws(CryptographyError) -> PrivateKey {
        switch block.label {
        case "PRIVATE KEY": return try PrivateKey(pkcs8: SecretBytes(try block.der(.privateKey)))
        case "ENCRYPTED PRIVATE KEY":
            return try EncryptedKey.decrypt(try block.der(.privateKey), password, by: decryption)
        default: throw PrivateKey.notPlain(block)
        }
    }
}
