import COpenSSL

/// Decrypts what one file has encrypted with a password, within a limit of work for the whole file.
///
/// The limit is checked before a key is derived. Ciphers of old (RC2, single DES) are in OpenSSL's legacy provider, which
/// is loaded into a library context of its own, and for a file that needs it.
final class PasswordDecryption {
    /// How often all passwords of a file may be hashed together, which takes a small board seconds. NSS hashes each
    /// 600,000 times.
    static let iterationLimit: Int64 = 5_000_000

    private let subject: CryptographyError.Subject
    private let legacyProvider: String
    private var iterationsLeft = iterationLimit
    /// An `OSSL_LIB_CTX`, and each `OSSL_PROVIDER` of it.
    private var library: OpaquePointer?
    private var providers: [OpaquePointer] = []

    /// - Parameters:
    ///   - subject: what is decrypted, for an error.
    ///   - legacyProvider: the name of the module.
    init(_ subject: CryptographyError.Subject, legacyProvider: String = "legacy") {
        (self.subject, self.legacyProvider) = (subject, legacyProvider)
    }

    deinit {
        for provider in providers.reversed() { OSSL_PROVIDER_unload(provider) }
        OSSL_LIB_CTX_free(library)
    }

    /// Runs a call that derives a key and decrypts.
    ///
    /// - Parameters:
    ///   - encryption: the algorithm, an `X509_ALGOR`.
    ///   - call: gets an `OSSL_LIB_CTX`, or `nil` for the default one; runs again in the other, if the first has no such
    ///     cipher.
    /// - Returns: `nil` if it cannot be decrypted with this password.
    /// - Throws: ``CryptographyError/unsupportedEncryption(_:algorithm:)``, ``CryptographyError/malformed(_:reason:)``
    func run(
        _ encryption: UnsafePointer<X509_ALGOR>, _ call: (OpaquePointer?) -> OpaquePointer?
    ) throws(CryptographyError) -> OpaquePointer? {
        guard latchkey_iterations(encryption) != -1 else {
            throw .unsupportedEncryption(subject, algorithm: Self.name(encryption))
        }
        try take(latchkey_iterations(encryption))
        if let result = call(nil) { return result }
        guard Self.isUnsupported else { return nil }
        try take(latchkey_iterations(encryption))
        if let library = legacyLibrary(), let result = call(library) { return result }
        guard Self.isUnsupported || providers.count < 2 else { return nil }
        ERR_clear_error()
        throw .unsupportedEncryption(subject, algorithm: Self.name(encryption))
    }

    /// Whether the last call failed because there is no such cipher.
    private static var isUnsupported: Bool {
        latchkey_means_unsupported(ERR_peek_error()) == 1 || latchkey_means_unsupported(ERR_peek_last_error()) == 1
    }

    /// Counts what a call is about to hash.
    /// - Throws: ``CryptographyError/malformed(_:reason:)``
    func take(_ iterations: Int64) throws(CryptographyError) {
        ERR_clear_error()
        guard iterations > 0 else { throw .malformed(subject, reason: "its password is hashed less than once") }
        guard iterations <= iterationsLeft else {
            throw .malformed(
                subject, reason: "its password is hashed more often than the \(Self.iterationLimit) times allowed")
        }
        iterationsLeft -= iterations
    }

    /// Such as `pbeWithSHA1And40BitRC2-CBC`.
    static func name(_ algorithm: UnsafePointer<X509_ALGOR>) -> String {
        var text = [CChar](repeating: 0, count: 128)
        let count = OBJ_obj2txt(&text, Int32(text.count), algorithm.pointee.algorithm, 0)
        guard count > 0, count < text.count else { return "its encryption" }
        return text.withUnsafeBytes { String(decoding: $0.prefix(Int(count)), as: UTF8.self) }
    }

    /// A library context with the ciphers of old; `nil` where they are not installed.
    private func legacyLibrary() -> OpaquePointer? {
        if providers.count == 2 { return library }
        guard library == nil, let made = OSSL_LIB_CTX_new() else { return nil }
        library = made
        for name in ["default", legacyProvider] {
            guard let provider = OSSL_PROVIDER_load(made, name) else { return nil }
            providers.append(provider)
        }
        return made
    }
}

/// What a file is opened with.
enum FilePassword {
    /// Not the same as an empty text (RFC 7292 appendix B.1): programs differ in what they mean by no password.
    case none
    case text(SecretBytes)

    /// The maximum length, in bytes.
    static let limit = 64 << 10

    /// All that a person can mean by a password.
    /// - Throws: ``CryptographyError/tooLong(_:count:limit:)``
    static func all(of password: SecretBytes) throws(CryptographyError) -> [FilePassword] {
        guard password.count <= limit else { throw .tooLong(.secret, count: password.count, limit: limit) }
        return password.count == 0 ? [.none, .text(password)] : [.text(password)]
    }

    func use<Result>(_ call: (UnsafePointer<CChar>?, Int32) -> Result) -> Result {
        switch self {
        case .none: call(nil, 0)
        case .text(let text):
            text.withUnsafeBytes { call($0.assumingMemoryBound(to: CChar.self).baseAddress, Int32($0.count)) }
        }
    }
}
