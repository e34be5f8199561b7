import CMicroHTTPD
import HTTPClient

/// libmicrohttpd's responses.
extension latchkey_http_calls {
    /// - Returns: `nil` without memory.
    func response(of bytes: [UInt8] = []) -> OpaquePointer? {
        bytes.withUnsafeBytes {
            create_response_from_buffer(
                $0.count, UnsafeMutableRawPointer(mutating: $0.baseAddress), .RESPMEM_MUST_COPY)
        }
    }

    /// One whose body the feed gives piece by piece.
    ///
    /// - Parameter length: in bytes; `nil` if it is not known.
    /// - Returns: `nil` without memory.
    func response(from feed: EventFeed, length: Int? = nil) -> OpaquePointer? {
        create_response_from_callback(
            length.map { UInt64($0) } ?? UInt64.max, 16 << 10,
            { feed, _, buffer, size in
                guard let feed, let buffer else { return latchkey_http_broken_stream }
                return Unmanaged<EventFeed>.fromOpaque(feed).takeUnretainedValue()
                    .read(into: UnsafeMutableRawBufferPointer(start: buffer, count: size))
            }, Unmanaged.passRetained(feed).toOpaque(),
            { feed in if let feed { Unmanaged<EventFeed>.fromOpaque(feed).release() } })
    }

    /// Hands over the answer to the connection's request, and releases it.
    ///
    /// - Returns: `false` if there is none, or libmicrohttpd does not take it: the connection is to be closed.
    func queue(
        _ response: OpaquePointer?, _ status: Int, _ headers: HTTPHeaders, on connection: OpaquePointer
    ) -> Bool {
        guard let response else { return false }
        defer { destroy_response(response) }
        for field in headers.fields { _ = add_response_header(response, field.name, field.value) }
        return queue_response(connection, UInt32(status), response) == .YES
    }
}
