import COpenSSL
import Groundwork

/// Cipher text in a format of Oracle's mobile SDK: the name of the cipher in braces, then base64, without the
/// initialization vector (OAMMS B18).
///
/// It is not authenticated: a change of it changes the text, and a program that may decrypt at will finds texts out by
/// their padding. Only for data that another program wrote or reads.
public struct PrefixedCipher: Sendable, Equatable {
    /// The maximum size of a text, in bytes: 1 MiB.
    public static let limit = SaltedDigest.limit

    public let form: CipherForm
    public let ciphertext: [UInt8]

    public init(form: CipherForm, ciphertext: [UInt8]) {
        self.form = form
        self.ciphertext = ciphertext
    }

    /// Reads ``text``, or the same with mode and padding in the prefix.
    ///
    /// - Parameter usual: mode and padding where the prefix has only the algorithm.
    /// - Throws: ``FormatError``
    public init(
        parsing text: String, usual: (mode: CipherForm.Mode, padding: CipherForm.Padding) = (.cbc, .pkcs7)
    ) throws(FormatError) {
        let read = try PrefixedText(parsing: text, limit: Self.limit + 16)
        form = try CipherForm(prefix: read.name, usual: usual)
        ciphertext = read.bytes
    }

    /// Such as `{AES}` and base64.
    public var text: String { PrefixedText(name: form.algorithm.rawValue, bytes: ciphertext).text }

    /// Encrypts a text.
    ///
    /// - Parameters:
    ///   - text: 1 byte to ``limit``; without padding, whole blocks.
    ///   - form: AES. ECB only if `legacy`.
    ///   - vector: a block of unpredictable bytes for CBC, else `nil`.
    /// - Throws: ``FormatError``
    public init(
        encrypting text: SecretBytes, as form: CipherForm, key: SecretBytes, vector: [UInt8]?, legacy: Bool
    ) throws(FormatError) {
        guard !form.algorithm.isLegacy, legacy || form.mode == .cbc, vector != nil || form.mode == .ecb else {
            throw .legacyOnly
        }
        guard text.count > 0 else { throw .emptyText }
        guard text.count <= Self.limit else { throw .tooLong }
        guard form.padding == .pkcs7 || text.count.isMultiple(of: form.algorithm.blockSize) else {
            throw .paddingRequired
        }
        let sealed = try Self.translated(text, form, encrypts: true, key: key, vector: vector)
        self.init(form: form, ciphertext: sealed.exposed())
    }

    /// Decrypts the text. A changed text, another key and another vector are not told apart, and not always noticed.
    ///
    /// - Parameters:
    ///   - vector: a block for CBC, else `nil`; `nil` for CBC is a block of zeros, only if `legacy`.
    ///   - legacy: whether DES, 3DES and ECB are read.
    /// - Throws: ``FormatError``
    public func decrypted(key: SecretBytes, vector: [UInt8]?, legacy: Bool) throws(FormatError) -> SecretBytes {
        guard legacy || !form.algorithm.isLegacy && form.mode == .cbc && vector != nil else { throw .legacyOnly }
        guard !ciphertext.isEmpty else { throw .emptyText }
        guard ciphertext.count <= Self.limit + form.algorithm.blockSize else { throw .tooLong }
        guard ciphertext.count.isMultiple(of: form.algorithm.blockSize) else {
            throw form.padding == .none ? .paddingRequired : .undecryptable
        }
        let zeros = form.mode == .cbc ? [UInt8](repeating: 0, count: form.algorithm.blockSize) : nil
        return try Self.translated(
            SecretBytes(ciphertext), form, encrypts: false, key: key, vector: vector ?? zeros)
    }

    private static func translated(
        _ input: SecretBytes, _ form: CipherForm, encrypts: Bool, key: SecretBytes, vector: [UInt8]?
    ) throws(FormatError) -> SecretBytes {
        guard form.algorithm.keySizes.contains(key.count) else { throw .keySize }
        guard vector?.count == (form.mode == .cbc ? form.algorithm.blockSize : nil) else { throw .initializationVector }
        guard form.algorithm == .des else { return try translated(input, form, encrypts, key, vector, in: nil) }
        let legacy = try LegacyContext()
        return try translated(input, form, encrypts, key, vector, in: legacy.handle)
    }

    private static func translated(
        _ input: SecretBytes, _ form: CipherForm, _ encrypts: Bool, _ key: SecretBytes, _ vector: [UInt8]?,
        in library: OpaquePointer?
    ) throws(FormatError) -> SecretBytes {
        let cipher = EVP_CIPHER_fetch(library, form.name(keySize: key.count), nil)
        defer { EVP_CIPHER_free(cipher) }
        let context = EVP_CIPHER_CTX_new()
        defer { EVP_CIPHER_CTX_free(context) }
        let isReady = key.withUnsafeBytes { key in
            EVP_CipherInit_ex2(
                context, cipher, key.assumingMemoryBound(to: UInt8.self).baseAddress, vector, encrypts ? 1 : 0, nil)
        }
        // Fails only without memory, or without a cipher that OpenSSL is built with.
        guard isReady == 1, EVP_CIPHER_CTX_set_padding(context, form.padding == .pkcs7 ? 1 : 0) == 1 else {
            ERR_clear_error()
            throw .unknownAlgorithm
        }
        var (count, tail): (Int32, Int32) = (0, 0)
        let output = try SecretBytes(count: input.count + form.algorithm.blockSize) { output throws(FormatError) in
            let output = output.assumingMemoryBound(to: UInt8.self).baseAddress
            let isDone = input.withUnsafeBytes { input in
                EVP_CipherUpdate(
                    context, output, &count, input.assumingMemoryBound(to: UInt8.self).baseAddress, Int32(input.count))
                    == 1 && EVP_CipherFinal_ex(context, output.map { $0 + Int(count) }, &tail) == 1
            }
            guard isDone else {
                ERR_clear_error()
                throw .undecryptable
            }
        }
        return output.withUnsafeBytes { SecretBytes($0.prefix(Int(count + tail))) }
    }
}
