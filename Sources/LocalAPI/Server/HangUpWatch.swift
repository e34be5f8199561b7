import Dispatch
import Glibc

/// Notices that a reader has disconnected while libmicrohttpd has its connection suspended and does not look.
///
/// On a Unix socket the kernel reports this at once, so an event stream needs no keep-alive messages.
final class HangUpWatch: @unchecked Sendable {
    // `@unchecked Sendable` is correct because this reference never changes, and a source of libdispatch may be used
    // from every thread: only its Swift type does not say so.
    private let source: any DispatchSourceRead

    /// - Parameters:
    ///   - halfClosedIsGone: whether the other end is a browser, by TCP: it closes when it is gone.
    ///   - hangUp: called at most once, on a thread of libdispatch.
    /// - Returns: `nil` if the process has run out of descriptors; then only writing shows that the reader is gone.
    init?(_ descriptor: Int32, halfClosedIsGone: Bool, hangUp: @escaping @Sendable () -> Void) {
        // A duplicate, because libmicrohttpd may close the original at any time.
        let watched = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard watched >= 0 else { return nil }
        let source = DispatchSource.makeReadSource(fileDescriptor: watched, queue: .global())
        source.setEventHandler {
            var state = pollfd(fd: watched, events: 0, revents: 0)
            // Half closed is not gone: `nc -N` has sent everything and still reads. An early next request does
            // not mean a hang-up either.
            let isGone = poll(&state, 1, 0) == 1 && state.revents & Int16(POLLHUP) != 0
            if isGone || (halfClosedIsGone && Self.isHalfClosed(watched)) { hangUp() }
            source.cancel()
        }
        source.setCancelHandler { close(watched) }
        self.source = source
        source.activate()
    }

    private static func isHalfClosed(_ descriptor: Int32) -> Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) == 0
    }

    func stop() { source.cancel() }

    deinit { source.cancel() }
}
