/// A value in a received D-Bus message, simplified for bluetoothd's interfaces: number widths are dropped, and texts,
/// paths and variants are not distinguished.
enum BusValue: Sendable, Equatable {
    case flag(Bool)
    case number(Int64)
    case text(String)
    case bytes([UInt8])
    case list([BusValue])
    case table([String: BusValue])
    /// Skipped: a table with keys other than texts, a descriptor, or values nested too deeply.
    case other

    var flag: Bool? { if case .flag(let value) = self { value } else { nil } }
    var number: Int64? { if case .number(let value) = self { value } else { nil } }
    var text: String? { if case .text(let value) = self { value } else { nil } }
    var bytes: [UInt8]? { if case .bytes(let value) = self { value } else { nil } }
    var list: [BusValue]? { if case .list(let value) = self { value } else { nil } }
    var table: [String: BusValue]? { if case .table(let value) = self { value } else { nil } }
    var texts: [String] { list?.compactMap(\.text) ?? [] }
}

/// A value to write into a D-Bus message, with its exact type.
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

/// An object that this program exports on the bus: one interface, with constant properties.
struct BusObject: Sendable {
    var path: String
    var interface: String
    var properties: [(String, BusArgument)]
}

/// A call to send.
struct BusCall: Sendable {
    var destination = BlueZName.service
    var path: String
    var interface: String
    var member: String
    var arguments: [BusArgument] = []
    /// The time after which the call fails with `org.freedesktop.DBus.Error.NoReply`.
    var timeout: Duration = .seconds(25)
}

/// An error reply to a call: its D-Bus name and its text.
struct BusFailure: Error, Equatable {
    var name: String
    var text: String

    static let closed = BusFailure(name: "org.freedesktop.DBus.Error.Disconnected", text: "the bus connection ended")
}
