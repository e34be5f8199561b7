import Dispatch
import Glibc

/// Notices that a reader has gone while libmicrohttpd, which lets its connection sleep, does not look.
///
/// The kernel says so at once on a Unix socket, so an event stream needs no signs of life.
final class HangUpWatch: @unchecked Sendable {
    // libdispatch's sources are made for use from several threads; this one never changes.
    private let source: any DispatchSourceRead

    /// - Parameter hangUp: called at most once, on a thread of libdispatch.
    /// - Returns: `nil` when the process has no descriptor left; then only writing shows that the reader has gone.
    init?(_ descriptor: Int32, hangUp: @escaping @Sendable () -> Void) {
        // Of its own: libmicrohttpd closes the other whenever it likes.
        let watched = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard watched >= 0 else { return nil }
        let source = DispatchSource.makeReadSource(fileDescriptor: watched, queue: .global())
        source.setEventHandler {
            var state = pollfd(fd: watched, events: 0, revents: 0)
            // Half closed is not gone: `nc -N` has said all it wants and still reads. Nor is a next request too early.
            if poll(&state, 1, 0) == 1, state.revents & Int16(POLLHUP) != 0 { hangUp() }
            source.cancel()
        }
        source.setCancelHandler { close(watched) }
        self.source = source
        source.activate()
    }

    func stop() { source.cancel() }

    deinit { source.cancel() }
}
