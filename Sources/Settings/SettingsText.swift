public import Groundwork

/// The text of a settings file, in which one value can be changed; everything else stays as it is, byte for byte.
public struct SettingsText: Sendable {
    public private(set) var text: String

    /// - Parameter text: TOML that ``SettingsDocument`` takes.
    public init(_ text: String) { self.text = text }

    /// Why a value cannot be changed here.
    public enum Fault: Error, Equatable {
        /// The array has no table of this number.
        case noSuchTable
        /// The table is written in a form that is not changed by programs, such as `broker = { port = 1 }`.
        case otherForm
    }

    /// Writes a value: in place of the one that is there, or below the other keys of its table, or in a new table at
    /// the end.
    ///
    /// The text is read again afterwards: it then says what it said before, and the new value.
    ///
    /// - Throws: ``Fault``; the text is then as it was.
    public mutating func set(_ path: SettingsPath, to value: JSON) throws(Fault) {
        guard let before = try? SettingsDocument.parse(text), let after = before.setting(path, to: value) else {
            throw .noSuchTable
        }
        guard let literal = value.tomlLiteral, let changed = Self.changed(text, path, literal),
            let found = try? SettingsDocument.parse(changed), found == after
        else { throw .otherForm }
        text = changed
    }

    private static func changed(_ text: String, _ path: SettingsPath, _ literal: String) -> String? {
        let bytes = Array(text.utf8)
        guard let statements = SettingsScanner(bytes).statements() else { return nil }
        let ofTable = statements.filter { $0.table == [path.table] && $0.index == path.index }
        // A key with dots, at the top: broker.port = 1
        let same = statements.first { $0.table + $0.keys == [path.table, path.key] && $0.index == path.index }
        if let value = same?.value { return replacing(value, of: bytes, with: literal) }
        let line = "\(path.key) = \(literal)\n"
        guard let last = ofTable.last else {
            guard path.index == nil else { return nil }
            let gap = bytes.isEmpty ? "" : bytes.last == UInt8(ascii: "\n") ? "\n" : "\n\n"
            return replacing(bytes.count..<bytes.count, of: bytes, with: "\(gap)[\(path.table)]\n\(line)")
        }
        let isEnded = last.end > 0 && bytes[last.end - 1] == UInt8(ascii: "\n")
        return replacing(last.end..<last.end, of: bytes, with: (isEnded ? "" : "\n") + line)
    }

    private static func replacing(_ range: Range<Int>, of bytes: [UInt8], with text: String) -> String {
        String(decoding: bytes[..<range.lowerBound] + Array(text.utf8) + bytes[range.upperBound...], as: UTF8.self)
    }
}

extension [String: JSON] {
    /// The document with another value at a place; `nil` if there is no such place.
    fileprivate func setting(_ path: SettingsPath, to value: JSON) -> [String: JSON]? {
        var copy = self
        if let index = path.index {
            guard case .array(var tables) = self[path.table], tables.indices.contains(index),
                case .object(var table) = tables[index]
            else { return nil }
            table[path.key] = value
            tables[index] = .object(table)
            copy[path.table] = .array(tables)
        } else {
            guard var table = (self[path.table] ?? [:]).object else { return nil }
            table[path.key] = value
            copy[path.table] = .object(table)
        }
        return copy
    }
}

extension JSON {
    /// As TOML 1.0 writes it; `nil` for what settings do not have: nothing, a table, an array of others than strings.
    public var tomlLiteral: String? {
        switch self {
        case .bool(let value): return "\(value)"
        case .integer(let value): return "\(value)"
        case .number(let value): return value.isFinite ? "\(value)" : nil
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
