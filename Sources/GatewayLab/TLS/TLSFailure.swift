import CGnuTLS

/// Why a connection's TLS ended other than by a farewell of either side.
enum TLSFailure: Error, Equatable, CustomStringConvertible {
    /// GnuTLS refused what came, or the client refused what it got.
    case refused(operation: String, code: Int32)
    /// The client closed the connection in the handshake.
    case endedInHandshake
    /// The client closed the connection without saying that nothing follows (RFC 8446 section 6.1).
    case truncated

    var description: String {
        switch self {
        case .refused(let operation, let code): "cannot \(operation): \(String(cString: gnutls_strerror(code)))"
        case .endedInHandshake: "the client ended the connection in the handshake"
        case .truncated: "the client ended the connection without a close_notify"
        }
    }
}
