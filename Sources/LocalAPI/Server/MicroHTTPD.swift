import CMicroHTTPD

/// libmicrohttpd, loaded when a server begins to listen.
///
/// `@unchecked Sendable` is right because the table is filled before anyone has the pointer, and neither changed nor freed
/// afterwards.
struct MicroHTTPD: @unchecked Sendable {
    /// For the functions of `CMicroHTTPD`.
    let table: UnsafePointer<latchkey_http_calls>

    var calls: latchkey_http_calls { table.pointee }

    private static let loaded: Result<MicroHTTPD, LocalAPIError> = {
        let table = UnsafeMutablePointer<latchkey_http_calls>.allocate(capacity: 1)
        table.initialize(to: latchkey_http_calls())
        if let missing = latchkey_load_http(table) { return .failure(.libraryMissing(name: String(cString: missing))) }
        return .success(MicroHTTPD(table: table))
    }()

    /// - Throws: ``LocalAPIError/libraryMissing(name:)``
    static func library() throws(LocalAPIError) -> MicroHTTPD { try loaded.get() }
}
