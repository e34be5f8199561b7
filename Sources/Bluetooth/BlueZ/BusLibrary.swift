import CSystemd

/// libsystemd's sd-bus, loaded with the first connection.
struct BusLibrary: Sendable {
    let calls: latchkey_bus_calls

    /// What was missing, where it could not be loaded.
    struct Missing: Error { var name: String }

    static let shared: Result<BusLibrary, Missing> = {
        var calls = latchkey_bus_calls()
        if let missing = latchkey_load_bus(&calls) { return .failure(Missing(name: String(cString: missing))) }
        return .success(BusLibrary(calls: calls))
    }()
}
