import CCurl

/// libcurl, loaded with the first request.
///
/// `@unchecked Sendable` is right because the table is filled before anyone has the pointer, and neither changed nor freed
/// afterwards.
struct Curl: @unchecked Sendable {
    /// For the setters and getters of `CCurl`.
    let table: UnsafePointer<latchkey_curl_calls>

    var calls: latchkey_curl_calls { table.pointee }

    private static let loaded: Result<Curl, HTTPError> = {
        let table = UnsafeMutablePointer<latchkey_curl_calls>.allocate(capacity: 1)
        table.initialize(to: latchkey_curl_calls())
        if let missing = latchkey_load_curl(table) { return .failure(.libraryMissing(name: String(cString: missing))) }
        let curl = Curl(table: table)
        let status = curl.calls.global_init(Int(CURL_GLOBAL_DEFAULT))
        guard status == CURLE_OK else { return .failure(.library(operation: "start", reason: curl.text(of: status))) }
        let library = latchkey_curl_tls_library(table).map { String(cString: $0) } ?? "nothing"
        guard library.hasPrefix("OpenSSL/") else { return .failure(.unsuitableLibrary(found: library)) }
        return .success(curl)
    }()

    /// - Throws: ``HTTPError/libraryMissing(name:)``, ``HTTPError/unsuitableLibrary(found:)`` when its TLS is not OpenSSL's, or
    ///   ``HTTPError/library(operation:reason:)``.
    static func library() throws(HTTPError) -> Curl { try loaded.get() }

    /// libcurl's general text for a code.
    func text(of status: CURLcode) -> String { String(cString: calls.easy_strerror(status)!) }
}
