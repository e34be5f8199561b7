import CGnuTLS
import Glibc
import NIOCore

/// The server's side of one TLS connection. Knows no socket: what came is given to ``receive(_:)``, and what is to be
/// sent fetched by ``takeOutgoing()``.
final class TLSSession {
    private let handle: gnutls_session_t
    private let credentials: TLSCredentials
    /// Encrypted, not yet read by GnuTLS: between calls at most what came last.
    private var incoming = ByteBuffer()
    /// Encrypted by GnuTLS, not yet fetched.
    private var outgoing = ByteBuffer()
    /// Whether the client has said that nothing follows.
    private(set) var hasPeerEnded = false

    /// The most of a record, in bytes (RFC 8446 section 5.1).
    private static let recordLimit = 1 << 14

    /// - Throws: `LabError.cryptography`
    init(_ credentials: TLSCredentials) throws(LabError) {
        var made: gnutls_session_t?
        guard latchkey_tls_init(&made) == GNUTLS_E_SUCCESS, let made else {
            throw .cryptography(operation: "make a TLS session", reason: "out of memory")
        }
        (handle, self.credentials) = (made, credentials)
        try credentials.prepare(made)
        // GnuTLS calls back only within calls of this object.
        let own = Unmanaged.passUnretained(self).toOpaque()
        gnutls_session_set_ptr(made, own)
        gnutls_transport_set_ptr(made, own)
        gnutls_transport_set_pull_function(made) { TLSSession.of(transport: $0).pull($1, $2) }
        gnutls_transport_set_pull_timeout_function(made) { own, _ in
            TLSSession.of(transport: own).incoming.readableBytes > 0 ? 1 : 0
        }
        gnutls_transport_set_push_function(made) { TLSSession.of(transport: $0).push($1, $2) }
    }

    deinit { gnutls_deinit(handle) }

    /// The session that one of GnuTLS's belongs to.
    static func of(_ session: gnutls_session_t?) -> TLSSession { of(transport: gnutls_session_get_ptr(session)) }

    private static func of(transport: UnsafeMutableRawPointer?) -> TLSSession {
        guard let transport else { preconditionFailure("GnuTLS has lost its session") }
        return Unmanaged.fromOpaque(transport).takeUnretainedValue()
    }

    /// Takes bytes from the network. To be followed by ``shakeHands()`` or ``read(into:)``, which use them up.
    func receive(_ bytes: ByteBuffer) { incoming.writeImmutableBuffer(bytes) }

    /// Bytes for the network.
    func takeOutgoing() -> ByteBuffer {
        defer { outgoing = ByteBuffer() }
        return outgoing
    }

    /// - Returns: whether the handshake is complete.
    /// - Throws: ``TLSFailure/refused(operation:code:)``; an alert may then be outgoing.
    func shakeHands() throws(TLSFailure) -> Bool {
        try perform("shake hands") { Int(gnutls_handshake(handle)) } != nil
    }

    /// Appends all that the client has said so far.
    /// - Throws: ``TLSFailure/refused(operation:code:)``; an alert may then be outgoing.
    func read(into text: inout ByteBuffer) throws(TLSFailure) {
        while !hasPeerEnded {
            let count = try perform("read what the client says") {
                var count = 0
                text.writeWithUnsafeMutableBytes(minimumWritableBytes: Self.recordLimit) { room in
                    count = gnutls_record_recv(handle, room.baseAddress, room.count)
                    return max(count, 0)
                }
                return count
            }
            guard let count else { return }
            hasPeerEnded = count == 0
        }
    }

    /// - Throws: ``TLSFailure/refused(operation:code:)``
    func write(_ text: ByteBuffer) throws(TLSFailure) {
        var rest = text.readableBytesView
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { gnutls_record_send(handle, $0.baseAddress, $0.count) }
            guard count > 0 else { throw refused("write", Int32(count)) }
            rest = rest.dropFirst(count)
        }
    }

    /// Says that nothing follows. The client may still speak.
    func sayGoodbye() {
        // It fails only where the client cannot be told any more.
        _ = gnutls_bye(handle, GNUTLS_SHUT_WR)
    }

    /// The certificate that the client has shown in the handshake, or in the one that this session goes on from; DER.
    var peerCertificate: [UInt8]? {
        var count: UInt32 = 0
        guard let chain = gnutls_certificate_get_peers(handle, &count), count > 0 else { return nil }
        return Array(UnsafeBufferPointer(start: chain[0].data, count: Int(chain[0].size)))
    }

    /// Whether the client may go on, which need not show a certificate.
    var acceptsPeer: Bool { peerCertificate.map(credentials.accepts) ?? true }

    /// - Returns: what GnuTLS answered, or `nil` where it waits for more from the client.
    private func perform(_ operation: String, _ call: () -> Int) throws(TLSFailure) -> Int? {
        while true {
            let before = incoming.readableBytes
            let answer = call()
            switch Int32(truncatingIfNeeded: answer) {
            case 0...: return answer
            // It returns after a message for itself, such as new keys, and has not looked at what follows.
            case GNUTLS_E_AGAIN where incoming.readableBytes > 0 && incoming.readableBytes < before: continue
            case GNUTLS_E_AGAIN: return nil
            // Each was a message of its own.
            case GNUTLS_E_WARNING_ALERT_RECEIVED: continue
            case let code: throw refused(operation, code)
            }
        }
    }

    private func refused(_ operation: String, _ code: Int32) -> TLSFailure {
        // Where no alert can be sent any more, none is.
        switch code {
        case GNUTLS_E_FATAL_ALERT_RECEIVED: break
        case GNUTLS_E_CERTIFICATE_ERROR:
            _ = gnutls_alert_send(handle, GNUTLS_AL_FATAL, GNUTLS_A_CERTIFICATE_UNKNOWN)
        default: _ = gnutls_alert_send_appropriate(handle, code)
        }
        return .refused(operation: operation, code: code)
    }

    private func pull(_ room: UnsafeMutableRawPointer?, _ limit: Int) -> Int {
        guard let room, incoming.readableBytes > 0 else {
            gnutls_transport_set_errno(handle, EAGAIN)
            return -1
        }
        return incoming.readWithUnsafeReadableBytes { bytes in
            let count = min(limit, bytes.count)
            room.copyMemory(from: bytes.baseAddress!, byteCount: count)
            return count
        }
    }

    private func push(_ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
        outgoing.writeBytes(UnsafeRawBufferPointer(start: bytes, count: count))
    }
}
