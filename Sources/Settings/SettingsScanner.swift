import Groundwork

/// Finds the places of keys and values in the text of a settings file.
///
/// It does not judge the text: ``SettingsDocument`` has read it before.
struct SettingsScanner {
    /// A header, or a key with its value.
    struct Statement: Equatable {
        /// The keys of the header above, or of this one.
        var table: [String]
        /// Of the table in its array; `nil` if the header is not one of an array.
        var index: Int?
        /// Empty for a header.
        var keys: [String] = []
        /// Where the value stands; `nil` for a header.
        var value: Range<Int>?
        /// The beginning of its first line.
        var start = 0
        /// After the end of its last line.
        var end = 0
    }

    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// - Returns: `nil` for what this does not understand.
    func statements() -> [Statement]? {
        var scanner = self
        var found: [Statement] = []
        var counts: [[String]: Int] = [:]
        var (table, index): ([String], Int?) = ([], nil)
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { scanner.position = 3 }
        while scanner.skipToStatement() {
            var statement: Statement
            let start = scanner.lineStart
            if scanner.take("[") {
                let isArray = scanner.take("[")
                guard let keys = scanner.keys(), scanner.take("]"), !isArray || scanner.take("]") else { return nil }
                if isArray { counts[keys, default: -1] += 1 }
                (table, index) = (keys, isArray ? counts[keys] : nil)
                statement = Statement(table: table, index: index)
            } else {
                guard let keys = scanner.keys(), scanner.take("="), let value = scanner.value() else { return nil }
                statement = Statement(table: table, index: index, keys: keys, value: value)
            }
            scanner.skipLine()
            statement.start = start
            statement.end = scanner.position
            found.append(statement)
        }
        return found
    }

    private var byte: UInt8? { position < bytes.count ? bytes[position] : nil }

    private var lineStart: Int { (bytes[..<position].lastIndex(of: UInt8(ascii: "\n")) ?? -1) + 1 }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard byte == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func skipBlanks() {
        while byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") { position += 1 }
    }

    /// To the beginning of the next line.
    private mutating func skipLine() {
        while let byte {
            position += 1
            if byte == UInt8(ascii: "\n") { return }
        }
    }

    /// - Returns: `false` at the end of the text.
    private mutating func skipToStatement() -> Bool {
        while let byte {
            switch byte {
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"): position += 1
            case UInt8(ascii: "#"): skipLine()
            default: return true
            }
        }
        return false
    }

    // MARK: Keys

    /// Keys with dots between, and the blanks after them.
    private mutating func keys() -> [String]? {
        var keys: [String] = []
        repeat {
            skipBlanks()
            guard let key = key() else { return nil }
            keys.append(key)
            skipBlanks()
        } while take(".")
        return keys
    }

    private mutating func key() -> String? {
        let start = position
        if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
            guard skipString() else { return nil }
            return String(decoding: bytes[(start + 1)..<(position - 1)], as: UTF8.self)
        }
        while let byte, ASCII.isWord(byte) { position += 1 }
        return position > start ? String(decoding: bytes[start..<position], as: UTF8.self) : nil
    }

    // MARK: Values

    /// A value to its last character; a comment after it does not belong to it.
    private mutating func value() -> Range<Int>? {
        skipBlanks()
        let start = position
        var end = start
        var depth = 0
        while let byte {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                guard skipString() else { return nil }
                end = position
                continue
            case UInt8(ascii: "#"):
                guard depth > 0 else { return end > start ? start..<end : nil }
                skipLine()
                continue
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                guard depth > 0 else { return end > start ? start..<end : nil }
            case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            default: break
            }
            position += 1
            if byte != UInt8(ascii: " "), byte != UInt8(ascii: "\t") { end = position }
        }
        return depth == 0 && end > start ? start..<end : nil
    }

    /// A string in single or double quotation marks, also of several lines in three of them.
    private mutating func skipString() -> Bool {
        guard let quote = byte else { return false }
        let isLong = bytes[position...].starts(with: [quote, quote, quote])
        position += isLong ? 3 : 1
        while let byte {
            if byte == UInt8(ascii: "\\"), quote == UInt8(ascii: "\"") {
                position += 2
            } else if byte == quote, !isLong {
                position += 1
                return true
            } else if isLong, bytes[position...].starts(with: [quote, quote, quote]) {
                position += 3
                // Up to two more belong to the text.
                while self.byte == quote { position += 1 }
                return true
            } else {
                position += 1
            }
        }
        return false
    }
}
