import CMicroHTTPD
import HTTPClient

extension HTTPHeaders {
    /// The fields of a request's head, in order.
    ///
    /// - Parameter connection: the request's; on libmicrohttpd's thread.
    init(of connection: OpaquePointer, in library: MicroHTTPD) {
        self.init()
        withUnsafeMutablePointer(to: &self) { headers in
            _ = library.calls.get_connection_values(
                connection, .HEADER_KIND,
                { headers, _, name, value in
                    guard let headers, let name else { return .NO }
                    headers.assumingMemoryBound(to: HTTPHeaders.self).pointee
                        .add(String(cString: name), value.map { String(cString: $0) } ?? "")
                    return .YES
                }, headers)
        }
    }

    /// Whether every reader of the head finds the end of the body at the same place (RFC 9112 section 6.3).
    var haveOneBodyLength: Bool {
        let (codings, lengths) = (all("Transfer-Encoding"), all("Content-Length"))
        guard let coding = codings.first else { return lengths.count <= 1 }
        return codings.count == 1 && coding.lowercased() == "chunked" && lengths.isEmpty
    }
}
