import COpenSSL
import Groundwork

/// A digest of a password or another text, as Oracle's mobile SDK stores it: `{SaltedSHA-256}`, then the base64 of the
/// digest and the salt (OAMMS B18).
///
/// The digest is that of the text followed by the salt. The SDK of iOS takes upper-case hexadecimal digits as the salt,
/// that of Android random bytes; both are read, and ``salt(bits:)`` makes the former. Such a digest is quick to guess
/// at: what is new derives a key by ``KeyDerivation``.
public struct SaltedDigest: Sendable, Equatable {
    public enum Algorithm: String, Sendable, CaseIterable {
        /// Only to verify what is there.
        case md5 = "MD5"
        case sha1 = "SHA-1"
        case sha224 = "SHA-224"
        case sha256 = "SHA-256"
        case sha384 = "SHA-384"
        case sha512 = "SHA-512"

        var byteCount: Int {
            switch self {
            case .md5: 16
            case .sha1: 20
            case .sha224: 28
            case .sha256: 32
            case .sha384: 48
            case .sha512: 64
            }
        }
    }

    /// What an algorithm with a salt is called has this before it.
    public static let saltedPrefix = "Salted"
    /// The maximum size of a text, in bytes: 1 MiB.
    public static let limit = 1 << 20
    public static let saltBits = 4...1024
    /// The maximum size of a salt, in bytes.
    static let saltLimit = saltBits.upperBound / 4

    public let algorithm: Algorithm
    public let digest: [UInt8]
    /// Empty for an algorithm without one.
    public let salt: [UInt8]

    /// The name in the prefix, such as `SaltedSHA-256`.
    public var name: String { (salt.isEmpty ? "" : Self.saltedPrefix) + algorithm.rawValue }
    /// The stored form.
    public var text: String { PrefixedText(name: name, bytes: digest + salt).text }

    /// Parses a name as in ``name``, without regard to a salt that is there or not.
    ///
    /// - Throws: ``FormatError/unknownAlgorithm``
    public static func algorithm(named name: String) throws(FormatError) -> (algorithm: Algorithm, isSalted: Bool) {
        let isSalted = name.hasPrefix(saltedPrefix)
        guard let algorithm = Algorithm(rawValue: isSalted ? String(name.dropFirst(saltedPrefix.count)) : name) else {
            throw .unknownAlgorithm
        }
        return (algorithm, isSalted)
    }

    /// - Parameters:
    ///   - text: 1 byte to ``limit``.
    ///   - name: of the algorithm, as in ``name``; MD5 is refused.
    ///   - salt: empty for an algorithm without one.
    /// - Throws: ``FormatError``
    public init(of text: SecretBytes, by name: String, salt: [UInt8]) throws(FormatError) {
        let (algorithm, isSalted) = try Self.algorithm(named: name)
        guard algorithm != .md5 else { throw .legacyOnly }
        try self.init(of: text, algorithm, salt: salt, isSalted: isSalted)
    }

    private init(of text: SecretBytes, _ algorithm: Algorithm, salt: [UInt8], isSalted: Bool) throws(FormatError) {
        guard text.count > 0 else { throw .emptyText }
        guard text.count <= Self.limit else { throw .tooLong }
        guard isSalted || salt.isEmpty else { throw .saltUnexpected }
        guard !isSalted || !salt.isEmpty else { throw .saltMissing }
        guard salt.count <= Self.saltLimit else { throw .saltLength }
        self.algorithm = algorithm
        self.salt = salt
        digest = try Self.hash(text, salt, algorithm)
    }

    /// Reads the stored form, with either style of salt.
    ///
    /// - Throws: ``FormatError``
    public init(parsing text: String) throws(FormatError) {
        let stored = try PrefixedText(parsing: text, limit: 64 + Self.saltLimit)
        let (algorithm, isSalted) = try Self.algorithm(named: stored.name)
        guard stored.bytes.count >= algorithm.byteCount else { throw .notPrefixed }
        let salt = Array(stored.bytes.dropFirst(algorithm.byteCount))
        guard isSalted || salt.isEmpty else { throw .saltUnexpected }
        guard !isSalted || !salt.isEmpty else { throw .saltMissing }
        guard salt.count <= Self.saltLimit else { throw .saltLength }
        self.algorithm = algorithm
        self.salt = salt
        digest = Array(stored.bytes.prefix(algorithm.byteCount))
    }

    /// Whether this is the digest of a text. Compares in constant time.
    ///
    /// - Parameter legacy: whether MD5 is verified.
    /// - Throws: ``FormatError``
    public func matches(_ text: SecretBytes, legacy: Bool) throws(FormatError) -> Bool {
        guard legacy || algorithm != .md5 else { throw .legacyOnly }
        let other = try SaltedDigest(of: text, algorithm, salt: salt, isSalted: !salt.isEmpty)
        return equalInConstantTime(digest, other.digest)
    }

    /// A salt in the style of the SDK of iOS: random bytes as upper-case hexadecimal digits, two for each 8 bits begun.
    ///
    /// - Parameter bits: a multiple of 4 within ``saltBits``.
    /// - Throws: ``FormatError``, `CryptographyError` when the system has no randomness to give.
    public static func salt(bits: Int) throws -> [UInt8] {
        guard saltBits.contains(bits) else { throw FormatError.saltLength }
        guard bits.isMultiple(of: 4) else { throw FormatError.saltBits }
        return Array(Hex.encode(try Random.bytes((bits + 7) / 8)).uppercased().utf8)
    }

    private static func hash(
        _ text: SecretBytes, _ salt: [UInt8], _ algorithm: Algorithm
    ) throws(FormatError) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: algorithm.byteCount)
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        let isDone =
            EVP_DigestInit_ex(context, EVP_get_digestbyname(algorithm.rawValue.replacing("-", with: "")), nil) == 1
            && text.withUnsafeBytes { EVP_DigestUpdate(context, $0.baseAddress, $0.count) } == 1
            && EVP_DigestUpdate(context, salt, salt.count) == 1 && EVP_DigestFinal_ex(context, &digest, nil) == 1
        // Fails only without memory, or where OpenSSL is set up to leave the algorithm out.
        guard isDone else {
            ERR_clear_error()
            throw .unknownAlgorithm
        }
        return digest
    }
}
