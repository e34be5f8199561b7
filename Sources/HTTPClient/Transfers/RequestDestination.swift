import CCurl

/// The parts of a request's URL that decide where it goes. Parsed by libcurl's own parser, so that the host checked
/// here is the one it connects to.
struct RequestDestination: Sendable, Equatable {
    /// Whether the scheme is `https`.
    let isProtected: Bool
    /// A DNS name or an IP address, without the brackets of an IPv6 address.
    let host: String
    let port: Int
    /// The URL as libcurl understood it, query included.
    let url: String
    /// The URL for messages: without query and fragment.
    let location: String

    /// - Throws: ``HTTPError/malformedRequest(reason:)``, which never quotes the URL, or what ``Curl/library()``
    ///   throws.
    init(_ text: String) throws(HTTPError) {
        // libcurl reads a C string and accepts some control characters, so nothing below "!" or above "~" is passed
        // to it.
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .malformedRequest(
                reason: "the URL contains a space, a control character or a character outside ASCII")
        }
        let curl = try Curl.library().calls
        guard let handle = curl.url() else { throw .library(operation: "read a URL", reason: "no memory") }
        defer { curl.url_cleanup(handle) }
        let status = curl.url_set(handle, CURLUPART_URL, text, UInt32(CURLU_DISALLOW_USER))
        guard status != CURLUE_USER_NOT_ALLOWED else {
            throw .malformedRequest(reason: "the URL contains a user name or password")
        }
        guard status == CURLUE_OK else {
            throw .malformedRequest(reason: "the URL is not an absolute http or https URL")
        }
        func part(_ part: CURLUPart, _ flags: Int32 = 0) throws(HTTPError) -> String {
            var text: UnsafeMutablePointer<CChar>?
            guard curl.url_get(handle, part, &text, UInt32(flags)) == CURLUE_OK, let text else {
                throw .malformedRequest(reason: "the URL lacks a part that it needs")
            }
            defer { curl.free(text) }
            return String(cString: text)
        }
        let scheme = try part(CURLUPART_SCHEME)
        guard scheme == "https" || scheme == "http", let port = Int(try part(CURLUPART_PORT, CURLU_DEFAULT_PORT)) else {
            throw .malformedRequest(reason: "the URL is neither http nor https")
        }
        isProtected = scheme == "https"
        self.port = port
        let host = try part(CURLUPART_HOST)
        self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        url = try part(CURLUPART_URL)
        location = "\(scheme)://\(host):\(port)" + (try part(CURLUPART_PATH))
    }

    /// Whether the host can only be this machine (RFC 6761 section 6.3, RFC 1122 section 3.2.1.3, RFC 4291 section
    /// 2.5.3).
    var isLoopback: Bool {
        let name = host.lowercased()
        if name == "localhost" || name.hasSuffix(".localhost") || name == "::1" { return true }
        let numbers = name.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        return numbers.count == 4 && numbers[0] == 127 && numbers.allSatisfy { $0 != nil }
    }
}
