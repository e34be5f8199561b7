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
        guard let literal = value.tomlLiteral, let changed = Self.changed(text, path, literal) else {
            throw .otherForm
        }
        try take(changed, saying: after)
    }

    /// Adds a table to an array of tables: below the last one, or at the end.
    ///
    /// - Parameter members: its keys in the order in which they are to be written.
    /// - Throws: ``Fault/otherForm``; the text is then as it was.
    public mutating func add(to array: String, _ members: [(key: String, value: JSON)]) throws(Fault) {
        guard var after = try? SettingsDocument.parse(text) else { throw .otherForm }
        let table = JSON.object(members.reduce(into: [:]) { $0[$1.key] = $1.value })
        after[array] = .array((after[array]?.array ?? []) + [table])
        let bytes = Array(text.utf8)
        let literals = members.compactMap { member in member.value.tomlLiteral.map { "\(member.key) = \($0)\n" } }
        guard literals.count == members.count, let statements = SettingsScanner(bytes).statements() else {
            throw .otherForm
        }
        let place = statements.last { $0.table == [array] }?.end ?? bytes.count
        let isEnded = place == 0 || bytes[place - 1] == UInt8(ascii: "\n")
        let gap = place == 0 ? "" : isEnded ? "\n" : "\n\n"
        let added = "\(gap)[[\(array)]]\n" + literals.joined()
        try take(Self.replacing(place..<place, of: bytes, with: added), saying: after)
    }

    /// Takes a key out of its table, or a table out of its array, with the comments between its lines.
    ///
    /// - Parameter key: `nil` for the whole table.
    /// - Throws: ``Fault``; the text is then as it was.
    public mutating func remove(_ table: String, _ index: Int?, _ key: String?) throws(Fault) {
        guard let before = try? SettingsDocument.parse(text), let after = before.removing(table, index, key) else {
            throw .noSuchTable
        }
        let bytes = Array(text.utf8)
        let found = (SettingsScanner(bytes).statements() ?? []).filter { statement in
            guard statement.index == index else { return false }
            return key.map { statement.table + statement.keys == [table, $0] } ?? (statement.table == [table])
        }
        guard let first = found.first, let last = found.last else { throw .otherForm }
        var range = first.start..<last.end
        // One of the two empty lines that were around it is enough.
        let newline = UInt8(ascii: "\n")
        let isAfterGap = range.lowerBound == 0 || bytes[..<range.lowerBound].suffix(2) == [newline, newline]
        if isAfterGap, range.upperBound < bytes.count, bytes[range.upperBound] == newline {
            range = range.lowerBound..<(range.upperBound + 1)
        } else if isAfterGap, range.upperBound == bytes.count, range.lowerBound > 0 {
            range = (range.lowerBound - 1)..<range.upperBound
        }
        try take(Self.replacing(range, of: bytes, with: ""), saying: after)
    }

    /// Takes a changed text if it says what is expected of it.
    private mutating func take(_ changed: String, saying expected: [String: JSON]) throws(Fault) {
        guard let found = try? SettingsDocument.parse(changed), found == expected else { throw .otherForm }
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

extension [String: JSON] {
    /// The document without a key of a table, or without a table of an array; `nil` if there is none.
    fileprivate func removing(_ table: String, _ index: Int?, _ key: String?) -> [String: JSON]? {
        var copy = self
        if let index {
            guard case .array(var tables) = self[table], tables.indices.contains(index),
                case .object(var members) = tables[index]
            else { return nil }
            if let key {
                guard members.removeValue(forKey: key) != nil else { return nil }
                tables[index] = .object(members)
            } else {
                tables.remove(at: index)
            }
            copy[table] = tables.isEmpty ? nil : .array(tables)
        } else {
            guard let key, case .object(var members) = self[table], members.removeValue(forKey: key) != nil else {
                return nil
            }
            copy[table] = .object(members)
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
