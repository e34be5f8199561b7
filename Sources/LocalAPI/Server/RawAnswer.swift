import Glibc
import HTTPClient

/// An error answer written without libmicrohttpd, to a peer whose request it never sees.
struct RawAnswer {
    let bytes: [UInt8]

    init(_ error: LocalAPIError) {
        let answer = LocalResponse.error(error)
        guard case .bytes(let body) = answer.body else {
            bytes = []
            return
        }
        // The reason phrase may be empty (RFC 9112 section 4), but the space before it is required.
        let head =
            ["HTTP/1.1 \(answer.status) "] + answer.headers.pairs.map { "\($0.name): \($0.value)" }
            + ["Content-Length: \(body.count)", "Connection: close", "", ""]
        bytes = Array(head.joined(separator: "\r\n").utf8) + body
    }

    /// Without waiting: a fresh connection has room for it, and a peer that lets its buffer fill up needs no answer.
    func write(to descriptor: Int32) {
        _ = writeAtOnce(bytes, to: descriptor)
    }
}
