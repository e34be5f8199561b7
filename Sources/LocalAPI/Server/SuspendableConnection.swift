import CMicroHTTPD
import Synchronization

/// A connection that can be suspended while there is nothing to write to it.
///
/// It is suspended on libmicrohttpd's thread, inside one of its callbacks; it may be resumed on any thread, once for
/// each suspension.
final class SuspendableConnection: @unchecked Sendable {
    // `@unchecked Sendable` is correct because the handle never changes. It is used on libmicrohttpd's thread inside
    // callbacks for this very connection, and from other threads only while the connection is suspended, which
    // libmicrohttpd does not end by itself.
    let handle: OpaquePointer
    private let library: MicroHTTPD
    private let isSuspended = Mutex(false)

    init(_ handle: OpaquePointer, of library: MicroHTTPD) {
        self.handle = handle
        self.library = library
    }

    /// On libmicrohttpd's thread.
    ///
    /// - Parameter isReady: whether there is no need to suspend; called under the lock of ``resume()``, so that a
    ///   later call of that is never lost.
    /// - Returns: whether the connection is suspended now.
    func suspend(unless isReady: () -> Bool) -> Bool {
        isSuspended.withLock { isSuspended in
            guard !isReady() else { return false }
            library.calls.suspend_connection(handle)
            isSuspended = true
            return true
        }
    }

    /// - Parameter body: called if the connection is suspended, which it stays until that returns.
    func whileSuspended<Result>(_ body: () -> Result?) -> Result? {
        isSuspended.withLock { $0 ? body() : nil }
    }

    /// Resumes the connection if it is suspended.
    func resume() {
        isSuspended.withLock { isSuspended in
            guard isSuspended else { return }
            isSuspended = false
            library.calls.resume_connection(handle)
        }
    }
}
