import Groundwork

/// What others wrote, on a terminal: it would obey control characters, and show text in another order or not at all.
extension Terminal {
    /// Text from outside: unchanged in a pipe; on a terminal without what is more than text.
    func shown(_ text: String) -> String { isTerminal ? Self.withoutControls(text) : text }

    /// Replaces control characters except tab and the ends of lines by U+FFFD, and those that change the direction of
    /// text (Unicode Standard Annex 9): text keeps its lines, unlike in a log.
    static func withoutControls(_ text: String) -> String {
        var shown = String.UnicodeScalarView()
        var previous: Unicode.Scalar?
        for scalar in text.unicodeScalars {
            if scalar == "\n", previous == "\r" { shown.removeLast() }
            shown.append(isPlain(scalar) ? scalar : "\u{FFFD}")
            previous = scalar
        }
        return String(shown)
    }

    /// One line of JSON to standard output. On a terminal, what is no plain text is escaped (RFC 8259 section 7).
    static func json(_ json: JSON) { line(standardOutput.shownJSON(json.text)) }

    func shownJSON(_ text: String) -> String { isTerminal ? Self.withEscapes(text) : text }

    static func withEscapes(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            if isPlain(scalar) {
                escaped.unicodeScalars.append(scalar)
            } else {
                escaped += "\\u\(Hex.encode([UInt8(scalar.value >> 8), UInt8(scalar.value & 0xFF)]))"
            }
        }
        return escaped
    }

    /// The whole of a content to standard output: unchanged in a pipe, as text on a terminal.
    static func content(_ content: [UInt8]) {
        guard standardOutput.isTerminal else { return bytes(content) }
        bytes(Array(withoutControls(String(decoding: content, as: UTF8.self)).utf8))
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A: true
        // LRE to RLO, LRI to PDI.
        case 0x202A...0x202E, 0x2066...0x2069: false
        default: ![.control, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
        }
    }

    /// A content that comes in pieces, as a terminal may show it.
    struct Pieces {
        /// What may be the beginning of a character, or of the end of a line.
        private var held: [UInt8] = []

        mutating func take(_ piece: [UInt8]) -> [UInt8] {
            var text = held + piece
            var end = text.count
            // At most three bytes of a character are there while its last is not (RFC 3629).
            for place in text.indices.suffix(3) where text[place] >= 0xC0 {
                let length = text[place] >= 0xF0 ? 4 : text[place] >= 0xE0 ? 3 : 2
                if place + length > text.count { end = place }
            }
            if end == text.count, text.last == UInt8(ascii: "\r") { end -= 1 }
            held = Array(text[end...])
            text.removeSubrange(end...)
            return Array(Terminal.withoutControls(String(decoding: text, as: UTF8.self)).utf8)
        }

        mutating func rest() -> [UInt8] {
            defer { held = [] }
            return Array(Terminal.withoutControls(String(decoding: held, as: UTF8.self)).utf8)
        }
    }
}
