import Groundwork

extension SCIMFilter {
    /// Reads a filter in either spelling.
    ///
    /// - Throws: ``DirectoryError/filterInvalid(reason:)``
    public init(_ text: String) throws(DirectoryError) {
        guard text.utf8.count <= Self.lengthLimit else {
            throw .filterInvalid(reason: "it is longer than \(Self.lengthLimit) bytes")
        }
        guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw .filterInvalid(reason: "it has control characters")
        }
        var parser = SCIMFilterParser(rest: Array(text.utf8)[...])
        self = try parser.alternatives(depth: 0)
        guard parser.isAtEnd else { throw .filterInvalid(reason: "it has more text after its end") }
    }

    /// `attribute eq "value"`.
    public static func equals(_ attribute: String, _ value: String) -> SCIMFilter {
        .compare(attribute, .eq, .string(value))
    }

    /// Whether a text is the path of an attribute, with or without the URN of its schema before it.
    static func isAttribute(_ text: String) -> Bool {
        let bytes = text.utf8
        guard (1...128).contains(bytes.count), let first = bytes.first, let last = bytes.last else { return false }
        return (ASCII.isLetterOrDigit(first) || first == UInt8(ascii: "$")) && ASCII.isLetterOrDigit(last)
            && bytes.allSatisfy { ASCII.isLetterOrDigit($0) || ".:_-$".utf8.contains($0) }
    }
}

/// Reads the grammar of RFC 7644 section 3.4.2.2 without value paths in brackets.
private struct SCIMFilterParser {
    var rest: ArraySlice<UInt8>

    var isAtEnd: Bool {
        mutating get {
            skipBlanks()
            return rest.isEmpty
        }
    }

    mutating func alternatives(depth: Int) throws(DirectoryError) -> SCIMFilter {
        var filter = try conjunction(depth: depth)
        while takes("or") { filter = .or(filter, try conjunction(depth: depth)) }
        return filter
    }

    private mutating func conjunction(depth: Int) throws(DirectoryError) -> SCIMFilter {
        var filter = try term(depth: depth)
        while true {
            if takes("and") {
                filter = .and(filter, try term(depth: depth))
            } else if takes("not") {
                // Between two comparisons, as the repeated spelling has it (MAG 10).
                filter = .and(filter, .not(try term(depth: depth)))
            } else {
                return filter
            }
        }
    }

    private mutating func term(depth: Int) throws(DirectoryError) -> SCIMFilter {
        guard depth < SCIMFilter.depthLimit else { throw .filterInvalid(reason: "it is nested too deeply") }
        if takes("filter=", isWord: false) { return try term(depth: depth + 1) }
        if takes("not") { return .not(try term(depth: depth + 1)) }
        if takes("(", isWord: false) {
            let filter = try alternatives(depth: depth + 1)
            guard takes(")", isWord: false) else { throw .filterInvalid(reason: "a parenthesis is not closed") }
            return filter
        }
        return try comparison()
    }

    private mutating func comparison() throws(DirectoryError) -> SCIMFilter {
        let attribute = word()
        guard SCIMFilter.isAttribute(attribute) else {
            throw .filterInvalid(reason: "a comparison begins with the name of an attribute")
        }
        let name = word().lowercased()
        if name == "pr" { return .present(attribute) }
        guard let sign = SCIMFilter.Operator(rawValue: name) else {
            let all = SCIMFilter.Operator.allCases.map(\.rawValue).joined(separator: ", ")
            throw .filterInvalid(reason: "after an attribute comes pr or one of \(all)")
        }
        guard let value = try? JSON(parsing: literal()), value.object == nil, value.array == nil else {
            throw .filterInvalid(reason: "a value is text in double quotes, a number, true, false or null")
        }
        return .compare(attribute, sign, value)
    }

    // MARK: Pieces

    private mutating func skipBlanks() { rest = rest.drop { $0 == UInt8(ascii: " ") } }

    private mutating func word() -> String {
        skipBlanks()
        let word = rest.prefix { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: ")") && $0 != UInt8(ascii: "(") }
        rest = rest.dropFirst(word.count)
        return String(decoding: word, as: UTF8.self)
    }

    /// - Parameter isWord: whether it has to end where a word ends.
    private mutating func takes(_ expected: String, isWord: Bool = true) -> Bool {
        skipBlanks()
        let bytes = Array(expected.utf8)
        guard rest.count >= bytes.count, zip(rest, bytes).allSatisfy({ $0 | 0x20 == $1 | 0x20 }) else { return false }
        let after = rest.dropFirst(bytes.count)
        if isWord, let next = after.first, next != UInt8(ascii: " "), next != UInt8(ascii: "(") { return false }
        rest = after
        return true
    }

    /// The bytes of a JSON literal: to the closing quotation mark, or to the end of the word.
    private mutating func literal() -> [UInt8] {
        skipBlanks()
        guard rest.first == UInt8(ascii: "\"") else { return Array(word().utf8) }
        var isEscaped = false
        var length = 1
        for byte in rest.dropFirst() {
            length += 1
            if !isEscaped, byte == UInt8(ascii: "\"") { break }
            isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
        }
        defer { rest = rest.dropFirst(length) }
        return Array(rest.prefix(length))
    }
}
