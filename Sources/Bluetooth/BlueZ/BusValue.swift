/// What a D-Bus message carries, as far as bluetoothd's interfaces need it: widths of numbers and the difference between
/// texts, paths and variants are gone.
enum BusValue: Sendable, Equatable {
    case flag(Bool)
    case number(Int64)
    case text(String)
    case bytes([UInt8])
    case list([BusValue])
    case table([String: BusValue])
    /// Read over: a table whose keys are no texts, a descriptor, what is nested too deeply.
    case other

    var flag: Bool? { if case .flag(let value) = self { value } else { nil } }
    var number: Int64? { if case .number(let value) = self { value } else { nil } }
    var text: String? { if case .text(let value) = self { value } else { nil } }
    var bytes: [UInt8]? { if case .bytes(let value) = self { value } else { nil } }
    var list: [BusValue]? { if case .list(let value) = self { value } else { nil } }
    var table: [String: BusValue]? { if case .table(let value) = self { value } else { nil } }
    var texts: [String] { list?.compactMap(\.text) ?? [] }
}

/// What is written into a D-Bus message, with its exact type.
enum BusArgument: Sendable {
    case flag(Bool)
    case text(String)
    case path(String)
    case bytes([UInt8])
    case texts([String])
    /// `v`
    indirect case variant(BusArgument)
    /// `a{sv}`
    case options([(String, BusArgument)])
    /// `a{oa{sa{sv}}}`, the answer of `GetManagedObjects`
    case objects([BusObject])

    var signature: String {
        switch self {
        case .flag: "b"
        case .text: "s"
        case .path: "o"
        case .bytes: "ay"
        case .texts: "as"
        case .variant: "v"
        case .options: "a{sv}"
        case .objects: "a{oa{sa{sv}}}"
        }
    }
}

/// An object of this program's own on the bus: one interface, and properties that do not change.
struct BusObject: Sendable {
    var path: String
    var interface: String
    var properties: [(String, BusArgument)]
}

/// A call to make.
struct BusCall: Sendable {
    var destination = BlueZName.service
    var path: String
    var interface: String
    var member: String
    var arguments: [BusArgument] = []
    /// After it the call fails with `org.freedesktop.DBus.Error.NoReply`.
    var timeout: Duration = .seconds(25)
}

/// An error that came back for a call: its D-Bus name, and the text that goes with it.
struct BusFailure: Error, Equatable {
    var name: String
    var text: String

    static let closed = BusFailure(name: "org.freedesktop.DBus.Error.Disconnected", text: "the bus connection ended")
}
