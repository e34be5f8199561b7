import CSystemd
import Groundwork

/// libsystemd's sd-bus, loaded with the first connection.
struct BusLibrary: Sendable {
    private let library: LoadedLibrary<latchkey_bus_calls>

    var calls: latchkey_bus_calls { library.calls }

    static let shared = Result { () throws(LibraryMissing) in
        BusLibrary(library: try LoadedLibrary(filling: latchkey_bus_calls(), by: latchkey_load_bus))
    }
}
