import CMicroHTTPD
import Dispatch
import Glibc

/// Accepts the connections of a relay's socket, and hands them over to libmicrohttpd, which accepts those of one socket
/// only. Sleeps while there are none, on no thread of its own.
final class RelayListener: @unchecked Sendable {
    /// The socket, which is closed only when the source has let go of it.
    private final class Owned: Sendable {
        let socket: ListeningSocket
        init(_ socket: consuming ListeningSocket) { self.socket = socket }
    }

    // `@unchecked Sendable` is correct because neither reference changes, and a source of libdispatch may be used from
    // every thread: only its Swift type does not say so.
    private let owned: Owned
    private let source: any DispatchSourceRead

    /// - Parameter take: takes a connection over; returns `false` if it did not.
    init(on socket: consuming ListeningSocket, take: @escaping @Sendable (Int32) -> Bool) {
        let owned = Owned(socket)
        let descriptor = owned.socket.descriptor
        // A queue of its own: one handler at a time.
        let queue = DispatchQueue(label: "relay")
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        source.setEventHandler {
            while true {
                let connection = latchkey_accept(descriptor, O_CLOEXEC | O_NONBLOCK)
                if connection >= 0 {
                    if !take(connection) { close(connection) }
                } else if errno != EINTR, errno != ECONNABORTED {
                    // Out of descriptors the socket stays readable: it is left alone for a moment.
                    if errno != EAGAIN { usleep(50_000) }
                    return
                }
            }
        }
        source.setCancelHandler { withExtendedLifetime(owned) {} }
        (self.owned, self.source) = (owned, source)
        source.activate()
    }

    /// Accepts no more.
    func stop() {
        source.cancel()
        owned.socket.removeFile()
    }

    deinit { source.cancel() }
}
