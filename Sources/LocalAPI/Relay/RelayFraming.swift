import Groundwork
import HTTPClient

/// Where the body of a request to a relay ends, and whether its fields may be passed on at all (RFC 9110 section 5,
/// RFC 9112 section 6). Whatever two readers could read differently is refused.
enum RelayFraming {
    /// - Returns: `nil` if the head does not state the length.
    /// - Throws: ``LocalAPIError/badBody(reason:)``, ``LocalAPIError/badTarget(reason:)``
    static func bodyLength(of headers: HTTPHeaders, version: String) throws(LocalAPIError) -> Int? {
        for field in headers.fields {
            guard HTTPHeaders.isToken(field.name),
                field.value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 })
            else {
                throw .badTarget(reason: "has a header field that is not valid")
            }
        }
        guard headers.haveOneBodyLength else { throw .badBody(reason: "must state its length in exactly one way") }
        let (coding, length) = (headers.first("Transfer-Encoding"), headers.first("Content-Length"))
        // A server of HTTP/1.0 would have read the chunks as the body (RFC 9112 section 6.1).
        guard coding == nil || version == "HTTP/1.1" else { throw .badBody(reason: "is chunked, but not in HTTP/1.1") }
        guard coding == nil else { return nil }
        guard let length else { return 0 }
        guard !length.isEmpty, length.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let count = Int(length) else {
            throw .badBody(reason: "states a length that is not a number")
        }
        return count
    }
}
