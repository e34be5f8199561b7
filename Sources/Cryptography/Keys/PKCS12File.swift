import COpenSSL

/// A PKCS#12 file (RFC 7292), in which browsers, Java and Windows hand out a private key with its certificates: `.p12`
/// or `.pfx`.
///
/// `PKCS12_parse` is not used. It decrypts the certificates first, which older tools encrypt with RC2, so that it fails
/// where the key itself can be read; and it hashes a password as often as the file says.
final class PKCS12File {
    /// The maximum size of a file, in bytes.
    static let limit = 64 << 10
    /// How often all passwords of a file may be hashed together, which takes a small board seconds.
    static let iterationLimit: Int64 = 2_000_000

    /// A `PKCS12`.
    private let handle: OpaquePointer
    private var iterationsLeft = iterationLimit
    /// What was taken out: `STACK_OF(PKCS12_SAFEBAG)` and `PKCS8_PRIV_KEY_INFO`.
    private var bags: [OpaquePointer] = []
    private var opened: [OpaquePointer] = []

    /// - Throws: ``CryptographyError``
    init(_ file: SecretBytes) throws(CryptographyError) {
        guard file.count <= Self.limit else { throw .tooLong(.keyFile, count: file.count, limit: Self.limit) }
        let (handle, rest) = file.withUnsafeBytes { bytes in
            let start = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
            var position = start
            let handle = d2i_PKCS12(nil, &position, bytes.count)
            return (handle, start.flatMap { start in position.map { bytes.count - ($0 - start) } } ?? 0)
        }
        guard let handle else { throw .malformed(.keyFile, reason: takeOpenSSLReason()) }
        self.handle = handle
        guard rest == 0 else { throw .malformed(.keyFile, reason: "\(rest) bytes follow it") }
    }

    deinit {
        for container in opened { PKCS8_PRIV_KEY_INFO_free(container) }
        for stack in bags { latchkey_bags_free(stack) }
        PKCS12_free(handle)
    }

    /// The one private key of the file.
    ///
    /// - Returns: a `PKCS8_PRIV_KEY_INFO`, which is freed with this file.
    /// - Throws: ``CryptographyError``; ``CryptographyError/wrongPassword(_:)``, ``CryptographyError/noKey(_:)``,
    ///   ``CryptographyError/legacyEncryption(_:algorithm:)``
    func container(_ password: SecretBytes) throws(CryptographyError) -> OpaquePointer {
        try container(unchecked: try checked(password))
    }

    /// - Parameter password: it need not be the one of the file's code (MAC).
    func container(unchecked password: Password) throws(CryptographyError) -> OpaquePointer {
        let safes = try read(PKCS12_unpack_authsafes(handle))
        defer { latchkey_safes_free(safes) }
        let all = (0..<latchkey_safes_count(safes)).compactMap { latchkey_safes_at(safes, $0) }
        var keys: [OpaquePointer] = []
        for safe in all where latchkey_safe_is_plain(safe) == 1 {
            keys += try self.keys(in: read(PKCS12_unpack_p7data(safe)), by: password)
        }
        // Usually the other safes hold only certificates.
        if keys.isEmpty {
            for safe in all {
                guard let encryption = latchkey_safe_encryption(safe) else { continue }
                try takeIterations(latchkey_iterations(encryption))
                let bags = password.use { PKCS12_unpack_p7encdata(safe, $0, $1) }
                guard let bags else { throw Self.undecryptable(encryption) }
                keys += try self.keys(in: bags, by: password)
            }
        }
        guard let key = keys.first else { throw .noKey(.keyFile) }
        guard keys.count == 1 else {
            throw .malformed(.keyFile, reason: "it contains \(keys.count) private keys, not one")
        }
        return key
    }

    /// What a file is opened with.
    enum Password {
        /// Not the same as an empty text (RFC 7292 appendix B.1): programs differ in what they mean by no password.
        case none
        case text(SecretBytes)

        func use<Result>(_ call: (UnsafePointer<CChar>?, Int32) -> Result) -> Result {
            switch self {
            case .none: call(nil, 0)
            case .text(let text):
                text.withUnsafeBytes { call($0.assumingMemoryBound(to: CChar.self).baseAddress, Int32($0.count)) }
            }
        }
    }

    /// Checks a password by the code (MAC) over the whole file.
    private func checked(_ password: SecretBytes) throws(CryptographyError) -> Password {
        guard password.count <= Self.limit else { throw .tooLong(.secret, count: password.count, limit: Self.limit) }
        guard PKCS12_mac_present(handle) == 1 else {
            throw .malformed(.keyFile, reason: "it has no message authentication code (MAC)")
        }
        var count: UnsafePointer<ASN1_INTEGER>?
        PKCS12_get0_mac(nil, nil, nil, &count, handle)
        for candidate in password.count == 0 ? [.none, .text(password)] : [Password.text(password)] {
            try takeIterations(count.map { Int64(ASN1_INTEGER_get($0)) } ?? 1)
            guard candidate.use({ PKCS12_verify_mac(handle, $0, $1) }) != 1 else { return candidate }
            guard ERR_peek_last_error() == 0 else { throw .malformed(.keyFile, reason: takeOpenSSLReason()) }
        }
        throw .wrongPassword(.keyFile)
    }

    /// - Parameter stack: is freed with this file.
    private func keys(in stack: OpaquePointer, by password: Password) throws(CryptographyError) -> [OpaquePointer] {
        bags.append(stack)
        var keys: [OpaquePointer] = []
        for index in 0..<latchkey_bags_count(stack) {
            guard let bag = latchkey_bags_at(stack, index), let key = try key(in: bag, by: password) else { continue }
            keys.append(key)
        }
        return keys
    }

    private func key(in bag: OpaquePointer, by password: Password) throws(CryptographyError) -> OpaquePointer? {
        switch PKCS12_SAFEBAG_get_nid(bag) {
        case NID_keyBag: return PKCS12_SAFEBAG_get0_p8inf(bag)
        case NID_pkcs8ShroudedKeyBag:
            var algorithm: UnsafePointer<X509_ALGOR>?
            X509_SIG_get0(PKCS12_SAFEBAG_get0_pkcs8(bag), &algorithm, nil)
            guard let algorithm else { return nil }
            try takeIterations(latchkey_iterations(algorithm))
            guard let container = password.use({ PKCS12_decrypt_skey(bag, $0, $1) }) else {
                throw Self.undecryptable(algorithm)
            }
            opened.append(container)
            return container
        default: return nil
        }
    }

    private func takeIterations(_ count: Int64) throws(CryptographyError) {
        ERR_clear_error()
        guard count > 0 else { throw .malformed(.keyFile, reason: "its password is hashed by an unknown method") }
        guard count <= iterationsLeft else {
            throw .malformed(
                .keyFile, reason: "its password is hashed more often than the \(Self.iterationLimit) times allowed")
        }
        iterationsLeft -= count
    }

    // MARK: Calls

    private func read<Pointer>(_ pointer: Pointer?) throws(CryptographyError) -> Pointer {
        guard let pointer else { throw .malformed(.keyFile, reason: takeOpenSSLReason()) }
        return pointer
    }

    /// Why the last call could not decrypt what the password is the right one for.
    private static func undecryptable(_ encryption: UnsafePointer<X509_ALGOR>) -> CryptographyError {
        let isUnsupported =
            latchkey_means_unsupported(ERR_peek_error()) == 1 || latchkey_means_unsupported(ERR_peek_last_error()) == 1
        let reason = takeOpenSSLReason()
        guard isUnsupported else { return .malformed(.keyFile, reason: reason) }
        let name = OBJ_nid2ln(OBJ_obj2nid(encryption.pointee.algorithm)).map { String(cString: $0) }
        return .legacyEncryption(.keyFile, algorithm: name ?? "an unknown algorithm")
    }
}
