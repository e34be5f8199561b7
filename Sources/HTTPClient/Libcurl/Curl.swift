import CCurl
import Groundwork

/// libcurl, loaded with the first request.
struct Curl: Sendable {
    private let library: LoadedLibrary<latchkey_curl_calls>

    /// For the setters and getters of `CCurl`.
    var table: UnsafePointer<latchkey_curl_calls> { library.table }
    var calls: latchkey_curl_calls { library.calls }

    private static let loaded = Result { () throws(HTTPError) in try Curl() }

    private init() throws(HTTPError) {
        do {
            library = try LoadedLibrary(filling: latchkey_curl_calls(), by: latchkey_load_curl)
        } catch {
            throw .libraryMissing(name: error.name)
        }
        let status = calls.global_init(Int(CURL_GLOBAL_DEFAULT))
        guard status == CURLE_OK else { throw .library(operation: "start", reason: text(of: status)) }
        let tls = latchkey_curl_tls_library(table).map { String(cString: $0) } ?? "nothing"
        guard tls.hasPrefix("OpenSSL/") else { throw .unsuitableLibrary(found: tls) }
    }

    /// - Throws: ``HTTPError/libraryMissing(name:)``, ``HTTPError/unsuitableLibrary(found:)`` when its TLS is not
    ///   OpenSSL's, or ``HTTPError/library(operation:reason:)``.
    static func library() throws(HTTPError) -> Curl { try loaded.get() }

    /// libcurl's general text for a code.
    func text(of status: CURLcode) -> String { String(cString: calls.easy_strerror(status)!) }
}
