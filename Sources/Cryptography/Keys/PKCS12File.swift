import COpenSSL

/// A PKCS#12 file (RFC 7292), in which browsers, Java and Windows hand out a private key with its certificates: `.p12`
/// or `.pfx`.
///
/// `PKCS12_parse` is not used: it hashes a password as often as the file says, and reads one key only.
final class PKCS12File {
    /// The maximum size of a file, in bytes.
    static let limit = 1 << 20
    /// The maximum number of keys, certificates and other parts, encrypted ones included.
    static let bagLimit = 32

    /// A `PKCS12`.
    private let handle: OpaquePointer
    private let decryption: PasswordDecryption
    private var bagsLeft = bagLimit
    /// What was taken out: `STACK_OF(PKCS12_SAFEBAG)` and `PKCS8_PRIV_KEY_INFO`.
    private var stacks: [OpaquePointer] = []
    private var opened: [OpaquePointer] = []

    /// - Parameter legacyProvider: the name of OpenSSL's module for old ciphers.
    /// - Throws: ``CryptographyError``
    init(_ file: SecretBytes, legacyProvider: String = "legacy") throws(CryptographyError) {
        guard file.count <= Self.limit else { throw .tooLong(.keyFile, count: file.count, limit: Self.limit) }
        let (handle, rest) = file.withUnsafeBytes { bytes in
            let start = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
            var position = start
            let handle = d2i_PKCS12(nil, &position, bytes.count)
            return (handle, start.flatMap { start in position.map { bytes.count - ($0 - start) } } ?? 0)
        }
        guard let handle else { throw .malformed(.keyFile, reason: takeOpenSSLReason()) }
        self.handle = handle
        decryption = PasswordDecryption(.keyFile, legacyProvider: legacyProvider)
        guard rest == 0 else { throw .malformed(.keyFile, reason: "\(rest) bytes follow it") }
    }

    deinit {
        for container in opened { PKCS8_PRIV_KEY_INFO_free(container) }
        for stack in stacks { latchkey_bags_free(stack) }
        PKCS12_free(handle)
    }

    /// A private key of the file, still encoded.
    struct Key {
        /// A `PKCS8_PRIV_KEY_INFO`, which is freed with the file.
        let container: OpaquePointer
        /// What people call it (RFC 2985 section 5.5.1).
        let name: String?
    }

    /// The one private key of the file. Certificates that are encrypted apart from it are not read.
    ///
    /// - Returns: a `PKCS8_PRIV_KEY_INFO`, which is freed with this file.
    /// - Throws: ``CryptographyError``; ``CryptographyError/wrongPassword(_:)``, ``CryptographyError/noKey(_:)``,
    ///   ``CryptographyError/unsupportedEncryption(_:algorithm:)``
    func container(_ password: SecretBytes) throws(CryptographyError) -> OpaquePointer {
        try container(unchecked: try checked(password))
    }

    /// - Parameter password: it need not be the one of the file's code (MAC).
    func container(unchecked password: FilePassword) throws(CryptographyError) -> OpaquePointer {
        let safes = try Safes(of: handle)
        var keys = try self.keys(in: plainBags(safes), by: password)
        // Usually the other safes hold only certificates.
        if keys.isEmpty { keys = try self.keys(in: decryptedBags(safes, by: password), by: password) }
        guard let key = keys.first else { throw .noKey(.keyFile) }
        guard keys.count == 1 else {
            throw .malformed(.keyFile, reason: "it contains \(keys.count) private keys, not one")
        }
        return key.container
    }

    /// All private keys and certificates of the file.
    ///
    /// - Throws: as ``container(_:)``
    func contents(_ password: SecretBytes) throws(CryptographyError) -> IdentityFile.Contents {
        try contents(unchecked: try checked(password))
    }

    /// - Parameter password: it need not be the one of the file's code (MAC).
    func contents(unchecked password: FilePassword) throws(CryptographyError) -> IdentityFile.Contents {
        let safes = try Safes(of: handle)
        var contents = IdentityFile.Contents()
        for bag in try plainBags(safes) + decryptedBags(safes, by: password) {
            if PKCS12_SAFEBAG_get_nid(bag) == NID_certBag {
                // Bags of other kinds of certificates have none of X.509.
                guard let certificate = PKCS12_SAFEBAG_get1_cert(bag) else { continue }
                contents.certificates.append(try Certificate(owning: certificate))
            } else if let found = try key(in: bag, by: password) {
                let key = try PrivateKey(adopting: KeyContainer.key(in: found.container))
                contents.keys.append(IdentityFile.Contents.Key(key: key, name: found.name))
            }
        }
        ERR_clear_error()
        return contents
    }

    /// Checks a password by the code (MAC) over the whole file.
    private func checked(_ password: SecretBytes) throws(CryptographyError) -> FilePassword {
        let candidates = try FilePassword.all(of: password)
        guard PKCS12_mac_present(handle) == 1 else {
            throw .malformed(.keyFile, reason: "it has no message authentication code (MAC)")
        }
        var (algorithm, count): (UnsafePointer<X509_ALGOR>?, UnsafePointer<ASN1_INTEGER>?)
        PKCS12_get0_mac(nil, &algorithm, nil, &count, handle)
        var iterations = count.map { Int64(ASN1_INTEGER_get($0)) } ?? 1
        if let algorithm, OBJ_obj2nid(algorithm.pointee.algorithm) == NID_pbmac1 {
            iterations = latchkey_iterations(algorithm)
            // RFC 9579, which OpenSSL reads since version 3.4.
            guard OpenSSL_version_num() >= 0x3040_0000, iterations != -1 else {
                throw .unsupportedEncryption(.keyFile, algorithm: "PBMAC1")
            }
        }
        for candidate in candidates {
            try decryption.take(iterations)
            guard candidate.use({ PKCS12_verify_mac(handle, $0, $1) }) != 1 else { return candidate }
            guard ERR_peek_last_error() == 0 else { throw .malformed(.keyFile, reason: takeOpenSSLReason()) }
        }
        throw .wrongPassword(.keyFile)
    }

    // MARK: Bags

    /// The parts of the file, each a `PKCS7`, freed with this.
    private final class Safes {
        private let stack: OpaquePointer
        let plain: [UnsafeMutablePointer<PKCS7>]
        let encrypted: [UnsafeMutablePointer<PKCS7>]

        init(of file: OpaquePointer) throws(CryptographyError) {
            guard let stack = PKCS12_unpack_authsafes(file) else {
                throw .malformed(.keyFile, reason: takeOpenSSLReason())
            }
            self.stack = stack
            let all = (0..<latchkey_safes_count(stack)).compactMap { latchkey_safes_at(stack, $0) }
            plain = all.filter { latchkey_safe_is_plain($0) == 1 }
            encrypted = all.filter { latchkey_safe_encryption($0) != nil }
            guard all.count <= PKCS12File.bagLimit else {
                throw .malformed(.keyFile, reason: "it has more than \(PKCS12File.bagLimit) parts")
            }
        }

        deinit { latchkey_safes_free(stack) }
    }

    private func plainBags(_ safes: Safes) throws(CryptographyError) -> [OpaquePointer] {
        var bags: [OpaquePointer] = []
        for safe in safes.plain { bags += try taken(PKCS12_unpack_p7data(safe)) }
        return bags
    }

    private func decryptedBags(
        _ safes: Safes, by password: FilePassword
    ) throws(CryptographyError) -> [OpaquePointer] {
        var bags: [OpaquePointer] = []
        for safe in safes.encrypted {
            guard let encryption = latchkey_safe_encryption(safe) else { continue }
            let stack = try decryption.run(encryption) { library in
                password.use { latchkey_safe_decrypt(safe, $0, $1, library) }
            }
            bags += try taken(stack)
        }
        return bags
    }

    /// - Parameter stack: is freed with this file.
    private func taken(_ stack: OpaquePointer?) throws(CryptographyError) -> [OpaquePointer] {
        guard let stack else { throw .malformed(.keyFile, reason: takeOpenSSLReason()) }
        stacks.append(stack)
        let count = Int(latchkey_bags_count(stack))
        guard count <= bagsLeft else {
            throw .malformed(.keyFile, reason: "it has more than \(Self.bagLimit) keys and certificates")
        }
        bagsLeft -= count
        return (0..<count).compactMap { latchkey_bags_at(stack, Int32($0)) }
    }

    private func keys(in bags: [OpaquePointer], by password: FilePassword) throws(CryptographyError) -> [Key] {
        var keys: [Key] = []
        for bag in bags { if let key = try key(in: bag, by: password) { keys.append(key) } }
        return keys
    }

    private func key(in bag: OpaquePointer, by password: FilePassword) throws(CryptographyError) -> Key? {
        let container: OpaquePointer?
        switch PKCS12_SAFEBAG_get_nid(bag) {
        case NID_keyBag: container = PKCS12_SAFEBAG_get0_p8inf(bag)
        case NID_pkcs8ShroudedKeyBag:
            var algorithm: UnsafePointer<X509_ALGOR>?
            X509_SIG_get0(PKCS12_SAFEBAG_get0_pkcs8(bag), &algorithm, nil)
            guard let algorithm else { return nil }
            container = try decryption.run(algorithm) { library in
                password.use { PKCS12_decrypt_skey_ex(bag, $0, $1, library, nil) }
            }
            guard let container else { throw .malformed(.keyFile, reason: takeOpenSSLReason()) }
            opened.append(container)
        default: return nil
        }
        return container.map { Key(container: $0, name: Self.name(of: bag)) }
    }

    /// Not by `PKCS12_get_friendlyname`, which has written beyond its buffer (CVE-2025-69419).
    private static func name(of bag: OpaquePointer) -> String? {
        guard let value = PKCS12_SAFEBAG_get0_attr(bag, NID_friendlyName), value.pointee.type == V_ASN1_BMPSTRING,
            let text = value.pointee.value.asn1_string, let start = ASN1_STRING_get0_data(text)
        else { return nil }
        let bytes = UnsafeBufferPointer(start: start, count: min(Int(ASN1_STRING_length(text)), 512) & ~1)
        let units = stride(from: 0, to: bytes.count, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
        return String(validating: units, as: UTF16.self)
    }
}
