import COpenSSL

/// The version of the OpenSSL library that the process runs with, such as `3.0.17`.
public var libraryVersion: String { String(cString: OpenSSL_version(OPENSSL_VERSION_STRING)) }

/// Checks a call that returns 1 for success.
/// - Parameter operation: completes the sentence "cannot …".
func check(_ operation: String, _ status: Int32) throws(CryptographyError) {
    guard status == 1 else { throw openSSLError(operation) }
}

/// Checks a call that returns a pointer, or null for failure.
func check<Pointer>(_ operation: String, _ pointer: Pointer?) throws(CryptographyError) -> Pointer {
    guard let pointer else { throw openSSLError(operation) }
    return pointer
}

/// Takes the newest reason from this thread's error queue and empties the queue for the next call.
func openSSLError(_ operation: String) -> CryptographyError {
    .openSSL(operation: operation, reason: takeOpenSSLReason())
}

func takeOpenSSLReason() -> String {
    let code = ERR_peek_last_error()
    ERR_clear_error()
    guard let reason = ERR_reason_error_string(code) else { return "no reason given" }
    return String(cString: reason)
}

/// The DER bytes from one of OpenSSL's `i2d` functions, which allocates them because it gets a null pointer.
func encoded(
    _ operation: String, _ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>) -> Int32
) throws(CryptographyError) -> [UInt8] {
    var output: UnsafeMutablePointer<UInt8>?
    let count = encode(&output)
    guard count > 0, let output else { throw openSSLError(operation) }
    defer { latchkey_free(output) }
    return Array(UnsafeBufferPointer(start: output, count: Int(count)))
}

/// Reads one DER value with one of OpenSSL's `d2i` functions and refuses bytes after it.
/// - Parameters:
///   - limit: the maximum number of bytes.
///   - free: frees a value that is followed by more bytes.
func decoded(
    _ subject: CryptographyError.Subject, _ der: [UInt8], limit: Int,
    _ decode: (UnsafeMutablePointer<UnsafePointer<UInt8>?>, Int) -> OpaquePointer?, free: (OpaquePointer) -> Void
) throws(CryptographyError) -> OpaquePointer {
    guard der.count <= limit else { throw .tooLong(subject, count: der.count, limit: limit) }
    let (value, rest) = der.withUnsafeBufferPointer { bytes in
        var position = bytes.baseAddress
        let value = decode(&position, bytes.count)
        return (value, bytes.baseAddress.map { bytes.count - ($0.distance(to: position ?? $0)) } ?? 0)
    }
    guard let value else { throw .malformed(subject, reason: takeOpenSSLReason()) }
    guard rest == 0 else {
        free(value)
        throw .malformed(subject, reason: "\(rest) bytes follow it")
    }
    return value
}
