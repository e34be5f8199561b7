import COpenSSL

/// Buffers the records that a library writes to a TLS connection, and reads ahead: one system call for a batch of small
/// records, instead of one for each written and two for each read record.
///
/// Created for each use, from the library's `SSL *` on the thread that owns the connection. Without a buffer
/// (``install()`` was not called, or failed) all bytes are written at once.
public struct TLSBuffer {
    /// The size of the largest record, used for each direction.
    private static let size = 16_384 + 256

    private let connection: OpaquePointer

    /// - Parameter connection: an `SSL *`.
    public init(_ connection: UnsafeMutableRawPointer) { self.connection = OpaquePointer(connection) }

    /// Inserts a buffer between TLS and its socket, until the connection ends. Call it after the handshake, which
    /// flushes by itself.
    public func install() {
        guard let socket = SSL_get_rbio(connection), let buffer = BIO_new(BIO_f_buffer()) else { return }
        // Without memory for it, the connection stays unbuffered.
        guard latchkey_bio_set_buffer_size(buffer, Self.size) == 1 else {
            BIO_free(buffer)
            return
        }
        // A reference for the chain, because `SSL_set_bio` releases the connection's own.
        BIO_up_ref(socket)
        BIO_push(buffer, socket)
        SSL_set_bio(connection, buffer, buffer)
    }

    /// Whether there are unread bytes that `poll` does not report: what the buffer has from the socket, and what TLS
    /// has decrypted of a record.
    public var hasUnread: Bool { SSL_pending(connection) > 0 || latchkey_bio_unread(SSL_get_rbio(connection)) > 0 }

    /// Whether ``flush()`` has bytes to write.
    public var hasUnsent: Bool { latchkey_bio_unsent(SSL_get_wbio(connection)) > 0 }

    /// Whether there is a buffer, with room for every byte of it.
    public var isEmpty: Bool {
        BIO_method_type(SSL_get_wbio(connection)) == BIO_TYPE_BUFFER && !hasUnsent
    }

    /// Adds a record to a buffer that has room for it. Whether the connection still stands is known by the next read.
    public func write(_ bytes: [UInt8]) { _ = SSL_write(connection, bytes, Int32(bytes.count)) }

    /// Writes buffered bytes until the socket accepts no more. An error appears at the next read.
    public func flush() { _ = latchkey_bio_flush(SSL_get_wbio(connection)) }
}
