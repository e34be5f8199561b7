public import Groundwork

/// One event of a stream.
public struct LocalEvent: Sendable, Equatable {
    /// The kind of event; `error` is the last event of a stream that broke off.
    public let name: String
    /// The reader's position in the stream, if the source of the events supports it.
    public let id: String?
    public let data: JSON

    public init(name: String, id: String? = nil, data: JSON) {
        self.name = name
        self.id = id
        self.data = data
    }

    /// The last event of a stream that broke off.
    init(_ error: any Error) { self.init(name: Self.errorName, data: Explanation(of: error).answer) }

    static let errorName = "error"

    /// The form of an event in NDJSON, and as `latchkey` prints it.
    public var json: JSON {
        var members: [String: JSON] = ["event": .string(name), "data": data]
        if let id { members["id"] = .string(id) }
        return .object(members)
    }
}
