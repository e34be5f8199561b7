import COpenSSL

/// SHA-256 (FIPS 180-4).
public enum SHA256 {
    public static let byteCount = 32

    public static func hash(_ bytes: some Collection<UInt8>) -> [UInt8] {
        let bytes = Array(bytes)
        var digest = [UInt8](repeating: 0, count: byteCount)
        // Fails only without memory or without OpenSSL's default provider; both are fatal.
        guard COpenSSL.SHA256(bytes, bytes.count, &digest) != nil else { fatalError("SHA-256: \(takeOpenSSLReason())") }
        return digest
    }
}

/// The hashes of signatures, by OpenSSL's names (FIPS 180-4).
public enum Digest: String, Sendable {
    case sha256 = "SHA256"
    case sha384 = "SHA384"
    case sha512 = "SHA512"

    public func hash(_ bytes: some Collection<UInt8>) -> [UInt8] {
        let bytes = Array(bytes)
        var digest = [UInt8](repeating: 0, count: 64)
        var count = 0
        // Fails only for the same reasons as SHA-256 above.
        guard EVP_Q_digest(nil, rawValue, nil, bytes, bytes.count, &digest, &count) == 1 else {
            fatalError("\(rawValue): \(takeOpenSSLReason())")
        }
        return Array(digest.prefix(count))
    }
}

/// SHA-1 (FIPS 180-4), for protocols that only recognize something by it, such as RFC 6455 section 4.2.2.
public enum SHA1 {
    public static func hash(_ bytes: some Collection<UInt8>) -> [UInt8] {
        let bytes = Array(bytes)
        var digest = [UInt8](repeating: 0, count: 20)
        // Fails only for the same reasons as SHA-256 above.
        guard EVP_Q_digest(nil, "SHA1", nil, bytes, bytes.count, &digest, nil) == 1 else {
            fatalError("SHA-1: \(takeOpenSSLReason())")
        }
        return digest
    }
}

/// HMAC (RFC 2104).
public enum HMAC {
    public static func sha256(key: SecretBytes, _ message: some Collection<UInt8>) -> [UInt8] {
        let message = Array(message)
        var code = [UInt8](repeating: 0, count: SHA256.byteCount)
        let isDone = key.withUnsafeBytes { key in
            COpenSSL.HMAC(EVP_sha256(), key.baseAddress, Int32(key.count), message, message.count, &code, nil) != nil
        }
        // Fails only for the same reasons as SHA-256.
        guard isDone else { fatalError("HMAC-SHA-256: \(takeOpenSSLReason())") }
        return code
    }
}
