import CMicroHTTPD
import Groundwork

/// libmicrohttpd, loaded when a server begins to listen.
struct MicroHTTPD: Sendable {
    private let library: LoadedLibrary<latchkey_http_calls>

    /// For the functions of `CMicroHTTPD`.
    var table: UnsafePointer<latchkey_http_calls> { library.table }
    var calls: latchkey_http_calls { library.calls }

    private static let loaded = Result { () throws(LibraryMissing) in
        MicroHTTPD(library: try LoadedLibrary(filling: latchkey_http_calls(), by: latchkey_load_http))
    }

    /// - Throws: ``LocalAPIError/libraryMissing(name:)``
    static func library() throws(LocalAPIError) -> MicroHTTPD {
        try loaded.mapError { LocalAPIError.libraryMissing(name: $0.name) }.get()
    }
}
