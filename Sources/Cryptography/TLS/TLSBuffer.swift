import COpenSSL

/// Gathers the records of a TLS connection that a library writes, and reads ahead of it: one system call for a batch of
/// small records, in place of one for each that is written and two for each that is read.
///
/// Made anew for each use, from the library's `SSL *` on the thread that owns the connection. Without a buffer
/// (``install()`` was not called, or failed) nothing is ever kept back.
public struct TLSBuffer {
    /// In each direction: a record at its largest.
    private static let size = 16_384 + 256

    private let connection: OpaquePointer

    /// - Parameter connection: an `SSL *`.
    public init(_ connection: UnsafeMutableRawPointer) { self.connection = OpaquePointer(connection) }

    /// Puts a buffer between TLS and its socket, for as long as the connection lasts. After the handshake, which flushes by
    /// itself.
    public func install() {
        guard let socket = SSL_get_rbio(connection), let buffer = BIO_new(BIO_f_buffer()) else { return }
        // Where there is no memory for it, the connection stays as it is.
        guard latchkey_bio_set_buffer_size(buffer, Self.size) == 1 else {
            BIO_free(buffer)
            return
        }
        // For the chain; the connection lets go of its own reference below.
        BIO_up_ref(socket)
        BIO_push(buffer, socket)
        SSL_set_bio(connection, buffer, buffer)
    }

    /// Whether there are bytes that have left the socket and not been read: `poll` does not tell of them.
    public var hasUnread: Bool { latchkey_bio_unread(SSL_get_rbio(connection)) > 0 }

    /// Whether there are bytes that ``flush()`` has yet to write.
    public var hasUnsent: Bool { latchkey_bio_unsent(SSL_get_wbio(connection)) > 0 }

    /// Writes what is kept, as far as the socket takes it. An error shows with the next read.
    public func flush() { _ = latchkey_bio_flush(SSL_get_wbio(connection)) }
}
