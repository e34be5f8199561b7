import COpenSSL
import Glibc

/// A client's TLS on a connected socket that does not block, which stays the caller's. Used on one thread only.
public final class TLSConnection {
    public enum Outcome: Equatable {
        /// That many bytes were read or written; for a handshake, 0.
        case done(Int)
        /// To be called again once the socket can be read.
        case waitsToRead
        /// To be called again once the socket can be written.
        case waitsToWrite
        /// The peer has closed TLS in order (RFC 8446 section 6.1).
        case ended
        /// `code` is the system's error where that is the reason, else 0.
        case failed(reason: String, code: Int32)
    }

    private let connection: OpaquePointer

    /// - Parameter host: what is named to the server, unless it is an address (RFC 6066 section 3).
    /// - Throws: ``CryptographyError``
    public init(on socket: Int32, to host: String, with context: TLSContext) throws(CryptographyError) {
        let operation = "make a TLS connection"
        connection = try check(operation, SSL_new(OpaquePointer(context.handle)))
        // `deinit` frees the connection if this throws.
        try check(operation, SSL_set_fd(connection, socket))
        latchkey_connection_write_in_parts(connection)
        SSL_set_connect_state(connection)
        var address = in6_addr()
        guard inet_pton(AF_INET, host, &address) != 1, inet_pton(AF_INET6, host, &address) != 1 else { return }
        try check(operation, latchkey_connection_name_server(connection, host))
    }

    deinit { SSL_free(connection) }

    public func shakeHands() -> Outcome { outcome { SSL_do_handshake(connection) == 1 ? 0 : -1 } }

    public func read(into bytes: UnsafeMutableRawBufferPointer) -> Outcome {
        outcome {
            var count = 0
            return SSL_read_ex(connection, bytes.baseAddress, bytes.count, &count) == 1 ? count : -1
        }
    }

    public func write(_ bytes: UnsafeRawBufferPointer) -> Outcome {
        outcome {
            var count = 0
            return SSL_write_ex(connection, bytes.baseAddress, bytes.count, &count) == 1 ? count : -1
        }
    }

    /// Tells the peer that nothing more comes, as far as the socket takes it.
    public func close() {
        ERR_clear_error()
        _ = SSL_shutdown(connection)
        ERR_clear_error()
    }

    /// - Parameter call: returns -1 for a failure.
    private func outcome(_ call: () -> Int) -> Outcome {
        ERR_clear_error()
        errno = 0
        let count = call()
        guard count < 0 else { return .done(count) }
        let code = errno
        switch SSL_get_error(connection, -1) {
        case SSL_ERROR_WANT_READ: return .waitsToRead
        case SSL_ERROR_WANT_WRITE: return .waitsToWrite
        case SSL_ERROR_ZERO_RETURN: return .ended
        case SSL_ERROR_SYSCALL where code != 0: return .failed(reason: String(cString: strerror(code)), code: code)
        case SSL_ERROR_SYSCALL: return .failed(reason: "unexpected end", code: ECONNRESET)
        default:
            // A peer that vanishes within a record of TLS is a broken connection, no fault of TLS.
            let reason = takeOpenSSLReason()
            return .failed(reason: reason, code: reason.hasPrefix("unexpected eof") ? ECONNRESET : 0)
        }
    }
}
