import CCurl

/// The `CURLM` that all transfers are in. Lives as long as the process.
///
/// `@unchecked Sendable` is right because the pointer never changes and ``wake()``, the only call from other threads
/// than the transfer thread, is the one that libcurl allows from any (curl_multi_wakeup(3)).
final class MultiHandle: @unchecked Sendable {
    let handle: UnsafeMutableRawPointer

    private init(_ handle: UnsafeMutableRawPointer) { self.handle = handle }

    /// Makes the one handle, after setting up libcurl and looking at what it was built with.
    static func make() -> Result<MultiHandle, HTTPError> {
        let status = curl_global_init(Int(CURL_GLOBAL_DEFAULT))
        guard status == CURLE_OK else {
            return .failure(.library(operation: "start", reason: String(cString: curl_easy_strerror(status))))
        }
        let library = latchkey_curl_tls_library().map { String(cString: $0) } ?? "nothing"
        guard library.hasPrefix("OpenSSL/") else { return .failure(.unsuitableLibrary(found: library)) }
        guard let handle = curl_multi_init() else { return .failure(.library(operation: "start", reason: "no memory")) }
        // Idle connections kept, per pool.
        _ = latchkey_curl_multi_set_long(handle, CURLMOPT_MAXCONNECTS, 8)
        return .success(MultiHandle(handle))
    }

    func wake() { curl_multi_wakeup(handle) }
}
