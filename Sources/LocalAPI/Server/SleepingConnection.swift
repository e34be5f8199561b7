import CMicroHTTPD
import Synchronization

/// A connection that libmicrohttpd lets sleep while there is nothing to write on it.
///
/// Putting it to sleep happens on libmicrohttpd's thread, inside one of its callbacks; waking it may happen on any, and
/// happens once for each sleep.
final class SleepingConnection: @unchecked Sendable {
    // The handle never changes. It is used on libmicrohttpd's thread inside callbacks for this very connection, and from
    // other threads only while the connection sleeps, which libmicrohttpd does not end by itself.
    let handle: OpaquePointer
    private let library: MicroHTTPD
    private let isAsleep = Mutex(false)

    init(_ handle: OpaquePointer, of library: MicroHTTPD) {
        self.handle = handle
        self.library = library
    }

    /// On libmicrohttpd's thread.
    ///
    /// - Parameter isReady: whether there is no need to sleep; asked under the lock of ``wake()``, so that a wake-up
    ///   after the answer is never lost.
    /// - Returns: whether the connection sleeps now.
    func sleep(unless isReady: () -> Bool) -> Bool {
        isAsleep.withLock { isAsleep in
            guard !isReady() else { return false }
            library.calls.suspend_connection(handle)
            isAsleep = true
            return true
        }
    }

    /// Wakes the connection if it sleeps.
    func wake() {
        isAsleep.withLock { isAsleep in
            guard isAsleep else { return }
            isAsleep = false
            library.calls.resume_connection(handle)
        }
    }
}
