import Groundwork

/// The head of an answer to the requests that open a way to a broker (RFC 9112 sections 4 and 5). Strict where two
/// readers could disagree, and small: it is read from whatever listens there.
struct AnswerHead: Equatable {
    /// The longest head, in bytes.
    static let limit = 8192
    /// The most header fields.
    static let mostFields = 64

    let status: Int
    /// Names in lower case.
    let fields: [(name: String, value: String)]

    static func == (left: AnswerHead, right: AnswerHead) -> Bool {
        left.status == right.status && left.fields.elementsEqual(right.fields, by: ==)
    }

    private static let end = Array("\r\n\r\n".utf8)

    /// Whether a head is complete with these bytes.
    static func isWhole(_ bytes: [UInt8]) -> Bool { bytes.suffix(4).elementsEqual(end) }

    /// - Parameter bytes: with the empty line at the end.
    /// - Returns: `nil` for anything but the head of an answer in HTTP/1.0 or 1.1.
    init?(_ bytes: [UInt8]) {
        guard bytes.count <= Self.limit, Self.isWhole(bytes), let text = String(validating: bytes, as: UTF8.self)
        else { return nil }
        let lines = text.utf8.dropLast(4).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map {
            $0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0
        }
        guard lines.count <= Self.mostFields + 1,
            lines.allSatisfy({ $0.allSatisfy { $0 >= 32 && $0 != 127 || $0 == UInt8(ascii: "\t") } })
        else { return nil }
        let first = Array(lines[0])
        guard first.count >= 12, first.starts(with: "HTTP/1.".utf8),
            first[7] == UInt8(ascii: "0") || first[7] == UInt8(ascii: "1"),
            first[8] == UInt8(ascii: " "), first.count == 12 || first[12] == UInt8(ascii: " "),
            first[9..<12].allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains),
            let status = Int(String(decoding: first[9..<12], as: UTF8.self)), status >= 100
        else { return nil }
        self.status = status
        var fields: [(name: String, value: String)] = []
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
                line[..<colon].allSatisfy({ ASCII.isWord($0) || "!#$%&'*+.^`|~".utf8.contains($0) })
            else { return nil }
            fields.append((Self.text(line[..<colon]).lowercased(), Self.text(line[line.index(after: colon)...])))
        }
        self.fields = fields
    }

    private static func text(_ bytes: Substring.UTF8View) -> String {
        let isBlank: (UInt8) -> Bool = { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        var rest = bytes.drop(while: isBlank)
        while let last = rest.last, isBlank(last) { rest = rest.dropLast() }
        return String(decoding: rest, as: UTF8.self)
    }

    /// The value of a field that is there exactly once.
    func only(_ name: String) -> String? {
        let found = fields.filter { $0.name == name }
        return found.count == 1 ? found[0].value : nil
    }

    /// The elements of all fields of a name that are lists (RFC 9110 section 5.6.1), in lower case.
    func elements(_ name: String) -> [String] {
        fields.filter { $0.name == name }.flatMap { field in
            field.value.utf8.split(separator: UInt8(ascii: ",")).map { Self.text($0).lowercased() }
        }
    }
}
