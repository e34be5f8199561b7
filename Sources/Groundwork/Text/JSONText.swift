extension JSON {
    /// The value as JSON text on one line with sorted keys.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The value as UTF-8 JSON text.
    public var bytes: [UInt8] {
        var output: [UInt8] = []
        write(to: &output, indent: nil)
        return output
    }

    /// The value as JSON text for people: one member per line, indented by two spaces.
    public var prettyText: String {
        var output: [UInt8] = []
        write(to: &output, indent: 0)
        return String(decoding: output, as: UTF8.self)
    }

    private func write(to output: inout [UInt8], indent: Int?) {
        switch self {
        case .null: output += "null".utf8
        case .bool(let value): output += (value ? "true" : "false").utf8
        case .integer(let value): output += String(value).utf8
        case .number(let value): output += Self.text(of: value).utf8
        case .string(let value): Self.write(value, to: &output)
        case .array(let elements):
            Self.write("[", elements, "]", to: &output, indent: indent) { element, output, indent in
                element.write(to: &output, indent: indent)
            }
        case .object(let members):
            let ordered = members.sorted { $0.key < $1.key }
            Self.write("{", ordered, "}", to: &output, indent: indent) { member, output, indent in
                Self.write(member.key, to: &output)
                output += (indent == nil ? ":" : ": ").utf8
                member.value.write(to: &output, indent: indent)
            }
        }
    }

    /// JSON has no infinity or NaN; integers that a double represents exactly are written without a fraction.
    private static func text(of value: Double) -> String {
        guard value.isFinite else { return "null" }
        return value.magnitude < 1e15 && value == value.rounded() ? String(Int64(value)) : "\(value)"
    }

    private static func write<Item>(
        _ open: String, _ items: [Item], _ close: String, to output: inout [UInt8], indent: Int?,
        each: (Item, inout [UInt8], Int?) -> Void
    ) {
        output += open.utf8
        for (index, item) in items.enumerated() {
            if index > 0 { output += ",".utf8 }
            newLine(indent.map { $0 + 1 }, to: &output)
            each(item, &output, indent.map { $0 + 1 })
        }
        if !items.isEmpty { newLine(indent, to: &output) }
        output += close.utf8
    }

    private static func newLine(_ indent: Int?, to output: inout [UInt8]) {
        guard let indent else { return }
        output.append(UInt8(ascii: "\n"))
        output += repeatElement(UInt8(ascii: " "), count: 2 * indent)
    }

    /// Appends the text as a JSON string.
    public static func write(_ string: String, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "\""))
        var string = string
        string.withUTF8 { bytes in
            var start = 0
            for index in bytes.indices where mustEscape(bytes[index]) {
                output += bytes[start..<index]
                escape(bytes[index], to: &output)
                start = index + 1
            }
            output += bytes[start...]
        }
        output.append(UInt8(ascii: "\""))
    }

    private static func mustEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte == 0x7F
    }

    private static func escape(_ byte: UInt8, to output: inout [UInt8]) {
        switch byte {
        case UInt8(ascii: "\""): output += "\\\"".utf8
        case UInt8(ascii: "\\"): output += "\\\\".utf8
        case 0x0A: output += "\\n".utf8
        case 0x0D: output += "\\r".utf8
        case 0x09: output += "\\t".utf8
        default: output += "\\u00\(Hex.encode([byte]))".utf8
        }
    }
}
