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

    /// In the form of Server-Sent Events (HTML standard, section 9.2). JSON text has no line break, so it fits on one
    /// `data` line.
    var serverSent: [UInt8] {
        var text = ""
        if let id { text += "id: \(Self.oneLine(id))\n" }
        return Array("\(text)event: \(Self.oneLine(name))\ndata: \(data.text)\n\n".utf8)
    }

    /// The form of an event in NDJSON, and as `latchkey` prints it.
    public var json: JSON { .object(members) }

    var members: [String: JSON] {
        var members: [String: JSON] = ["event": .string(name), "data": data]
        if let id { members["id"] = .string(id) }
        return members
    }

    /// As a line of NDJSON.
    var line: [UInt8] { json.bytes + [UInt8(ascii: "\n")] }

    /// Removes only characters that would end a line of this format; a program reads it, not a terminal.
    private static func oneLine(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.filter { $0.value >= 0x20 }))
    }
}
