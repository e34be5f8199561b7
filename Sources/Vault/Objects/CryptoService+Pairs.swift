@_spi(KeyBytes) import Cryptography
import Groundwork

/// Key pairs under a tag: `TAG.private`, which never leaves the vault or its hardware, and `TAG.public` (OAMMS B18). Each
/// function takes the tag alone, or the name of the half that it uses.
extension CryptoService {
    /// - Returns: whose tag, by name.
    /// - Throws: ``VaultError``
    public nonisolated func pairs(of owner: UInt32) async throws(VaultError) -> [(
        reference: KeyReference, key: PublicKey
    )] {
        try await keys(ofPairs: owner).all()
    }

    nonisolated func keys(ofPairs owner: UInt32) -> NamedKeys {
        NamedKeys(vault, scope: Self.scope(of: owner), limit: Self.keyLimit)
    }

    /// Makes a key pair.
    ///
    /// - Parameters:
    ///   - tag: 1 to 64 of a to z, 0 to 9 and `-`.
    ///   - algorithm: RSA of 2048 or 3072 bits, or P-256.
    /// - Throws: ``VaultError``, ``ObjectError``; `FormatError.keySize` for RSA of another size.
    public func makePair(
        _ tag: String, _ algorithm: PrivateKey.Algorithm, in keeper: KeyReference.Keeper, of owner: UInt32,
        level: ProtectionLevel = .always
    ) async throws -> PublicKey {
        guard [.rsa(bits: 2048), .rsa(bits: 3072), .p256].contains(algorithm) else { throw FormatError.keySize }
        await making.lock()
        defer { making.unlock() }
        guard try await !keys(of: owner).contains(tag) else { throw ObjectError.exists(name: tag) }
        return try await keys(ofPairs: owner).add(tag, from: .made(algorithm, in: keeper, level: level))
    }

    /// - Throws: ``VaultError``, ``ObjectError/notFound(name:)``
    public nonisolated func publicKey(_ name: String, of owner: UInt32) async throws -> PublicKey {
        try await pair(name, .public, owner).publicKey
    }

    /// Signs by RS256, PS256 or ES256; signatures are in the format of RFC 7518 section 3.
    ///
    /// - Parameter algorithm: by default RS256 or ES256, as the key is.
    /// - Throws: ``VaultError``, ``ObjectError/notFound(name:)``, `CryptographyError`; ``ObjectError/keyUnfit(name:)``
    ///   for an algorithm that is not the key's; `FormatError` for an empty message, or one over 1 MiB.
    public nonisolated func sign(
        _ message: [UInt8], with name: String, by algorithm: JWS.Algorithm? = nil, of owner: UInt32
    ) async throws -> (signature: [UInt8], algorithm: JWS.Algorithm) {
        try Self.check(message)
        let key = try await pair(name, .private, owner)
        guard let algorithm = algorithm ?? JWS.algorithm(of: key) else { throw ObjectError.keyUnfit(name: name) }
        let signature = try await fit(name) {
            try await key.signing { () throws(CryptographyError) in
                try JWS.signature(of: message, algorithm: algorithm, key: key)
            }
        }
        return (signature, algorithm)
    }

    /// Whether a signature is that of the message.
    ///
    /// - Throws: as ``sign(_:with:by:of:)``
    public nonisolated func verifies(
        _ signature: [UInt8], of message: [UInt8], with name: String, by algorithm: JWS.Algorithm? = nil,
        of owner: UInt32
    ) async throws -> Bool {
        try Self.check(message)
        let key = try await pair(name, .public, owner)
        guard let algorithm = algorithm ?? JWS.algorithm(of: key) else { throw ObjectError.keyUnfit(name: name) }
        return try await fit(name) {
            try JWS.verifies(signature, of: message, algorithm: algorithm, key: key.publicKey)
        }
    }

    /// Encrypts a short secret, such as a symmetric key, by RSA-OAEP with SHA-256.
    ///
    /// - Throws: ``VaultError``, ``ObjectError/notFound(name:)``, ``ObjectError/keyUnfit(name:)`` for a key that is not
    ///   RSA, `FormatError`
    public nonisolated func wrap(_ secret: SecretBytes, with name: String, of owner: UInt32) async throws -> [UInt8] {
        guard secret.count > 0 else { throw FormatError.emptyText }
        let key = try await pair(name, .public, owner).publicKey
        guard let limit = KeyWrapping.limit(of: key) else { throw ObjectError.keyUnfit(name: name) }
        guard secret.count <= limit else { throw FormatError.keySize }
        return try KeyWrapping.wrap(secret, for: key)
    }

    /// Decrypts what ``wrap(_:with:of:)`` made.
    ///
    /// - Parameter legacy: whether it is in the format of PKCS #1 v1.5.
    /// - Throws: ``VaultError``, ``ObjectError/notFound(name:)``, ``ObjectError/keyUnfit(name:)`` for a key that only
    ///   signs; `FormatError.undecryptable` for every failure.
    public nonisolated func unwrap(
        _ wrapped: [UInt8], with name: String, legacy: Bool, of owner: UInt32
    ) async throws -> SecretBytes {
        let key = try await pair(name, .private, owner)
        do throws(CryptographyError) {
            return try key.unwrapped(wrapped, isOld: legacy)
        } catch {
            switch error {
            case .notAuthentic: throw FormatError.undecryptable
            case .unsuitableKey: throw ObjectError.keyUnfit(name: name)
            default: throw error
            }
        }
    }

    private enum Half: String { case `private`, `public` }

    private nonisolated func pair(_ name: String, _ half: Half, _ owner: UInt32) async throws -> PrivateKey {
        let suffix = "." + half.rawValue
        let tag = name.hasSuffix(suffix) ? String(name.dropLast(suffix.count)) : name
        guard let key = try await keys(ofPairs: owner).key(named: tag) else { throw ObjectError.notFound(name: name) }
        return key
    }

    private nonisolated func fit<Result>(_ name: String, _ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let error as CryptographyError {
            guard case .algorithmRefused = error else { throw error }
            throw ObjectError.keyUnfit(name: name)
        }
    }

    private static func check(_ message: [UInt8]) throws(FormatError) {
        guard !message.isEmpty else { throw .emptyText }
        guard message.count <= Envelope.limit else { throw .tooLong }
    }
}
