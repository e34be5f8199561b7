public import Groundwork

extension SettingsDocument {
    /// Tables, and arrays of tables, of single values as a whole TOML 1.0 text, which ``parse(_:)`` reads as the same.
    public static func text(of members: [String: JSON]) -> String {
        let tables = members.sorted { $0.key < $1.key }.flatMap { key, value in
            value.array?.map { "[[\(key)]]\n" + lines(of: $0) } ?? ["[\(key)]\n" + lines(of: value)]
        }
        return tables.joined(separator: "\n")
    }

    /// What tables of an array are told apart by comes first.
    private static func lines(of table: JSON) -> String {
        let identity = SettingsLayers.identity(of: table)
        let others = (table.object ?? [:]).filter { identity[$0.key] == nil }.sorted { $0.key < $1.key }
        return (Array(identity) + others).compactMap { key, value in value.tomlLiteral.map { "\(key) = \($0)\n" } }
            .joined()
    }
}

extension JSON {
    /// As TOML 1.0 writes it; `nil` for what settings do not have: nothing, a table.
    public var tomlLiteral: String? {
        switch self {
        case .bool(let value): return "\(value)"
        case .integer(let value): return "\(value)"
        case .number(let value): return "\(value)"
        case .string(let value): return Self.quoted(value)
        case .array(let elements):
            let literals = elements.compactMap(\.tomlLiteral)
            return literals.count == elements.count ? "[\(literals.joined(separator: ", "))]" : nil
        case .null, .object: return nil
        }
    }

    /// A basic string: backslash, quotation mark and control characters are escaped.
    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\", "\"": quoted += "\\\(scalar)"
            case "\n": quoted += "\\n"
            case "\t": quoted += "\\t"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
