import CCurl

/// The `CURLM` handle of all transfers. Lives as long as the process.
///
/// `@unchecked Sendable` is correct because the pointer never changes and ``wake()``, the only call from threads
/// other than the transfer thread, is the one that libcurl allows from any thread (curl_multi_wakeup(3)).
final class MultiHandle: @unchecked Sendable {
    let curl: Curl
    let handle: UnsafeMutableRawPointer

    /// Creates the handle.
    ///
    /// - Throws: what ``Curl/library()`` throws, or ``HTTPError/library(operation:reason:)``.
    init() throws(HTTPError) {
        curl = try Curl.library()
        guard let handle = curl.calls.multi_init() else { throw .library(operation: "start", reason: "no memory") }
        self.handle = handle
        // Idle connections kept, per pool.
        _ = latchkey_curl_multi_set_long(curl.table, handle, CURLMOPT_MAXCONNECTS, 8)
    }

    func wake() { _ = curl.calls.multi_wakeup(handle) }
}
