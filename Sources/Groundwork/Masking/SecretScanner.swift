/// Goes through a text once, word by word, for ``SecretMask``.
struct SecretScanner {
    private let bytes: [UInt8]
    private let masksOpaque: Bool
    private let known: Set<String>
    private var position = 0
    private var output: [UInt8] = []

    init(_ bytes: [UInt8], masksOpaque: Bool, known: Set<String>) {
        self.bytes = bytes
        self.masksOpaque = masksOpaque
        self.known = known
    }

    mutating func masked() -> [UInt8] {
        output.reserveCapacity(bytes.count)
        while position < bytes.count {
            guard ASCII.isWord(bytes[position]) else {
                copy(to: position + 1)
                continue
            }
            let start = position
            let end = after(start) { ASCII.isWord($0) }
            if maskAddress(after: end) || maskValue(of: start..<end) || maskOption(start..<end)
                || maskCredentials(after: start..<end)
            {
                continue
            }
            if maskOpaque(from: start) { continue }
            copy(to: end)
        }
        return output
    }

    // MARK: URLs

    /// `https://user:password@host/path?query`, without the user, the query, and what looks like a token in the path.
    private mutating func maskAddress(after end: Int) -> Bool {
        guard bytes[end...].starts(with: Array("://".utf8)) else { return false }
        copy(to: end + 3)
        let whole = after(position) { !Self.endsAddress($0) }
        let authority = position..<(bytes[position..<whole].firstIndex { "/?#".utf8.contains($0) } ?? whole)
        if let at = bytes[authority].lastIndex(of: UInt8(ascii: "@")) { mask(to: at) }
        copy(to: authority.upperBound)
        let query = bytes[position..<whole].firstIndex { "?#".utf8.contains($0) }
        copyPath(to: query ?? whole)
        if let query {
            copy(to: query + 1)
            if query + 1 < whole { mask(to: whole) }
        }
        return true
    }

    private mutating func copyPath(to end: Int) {
        while position < end {
            guard ASCII.isWord(bytes[position]) else {
                copy(to: position + 1)
                continue
            }
            let part = position..<min(end, after(position) { ASCII.isWord($0) || "+=".utf8.contains($0) })
            if Self.looksRandom(bytes[part]), !isKnown(part) {
                mask(to: part.upperBound)
            } else {
                copy(to: part.upperBound)
            }
        }
    }

    private func isKnown(_ part: Range<Int>) -> Bool {
        !known.isEmpty && known.contains(String(decoding: bytes[part], as: UTF8.self))
    }

    private static func endsAddress(_ byte: UInt8) -> Bool { byte <= 0x20 || "\"'<>\\`".utf8.contains(byte) }

    // MARK: Values

    /// `password = "…"`, `"token":"…"`, `Authorization: …`.
    private mutating func maskValue(of word: Range<Int>) -> Bool {
        var next = word.upperBound
        if next < bytes.count, bytes[next] == UInt8(ascii: "\\") { next += 1 }
        if next < bytes.count, Self.isQuote(bytes[next]) { next += 1 }
        next = afterBlanks(next)
        guard next < bytes.count, "=:".utf8.contains(bytes[next]) else { return false }
        let name = String(decoding: bytes[word], as: UTF8.self)
        let isCode = bytes[next] == UInt8(ascii: "=") && name.lowercased() == "code"
        let isAmbiguous = SecretMask.isAmbiguous(name)
        guard isCode || isAmbiguous || SecretMask.isSecret(name) else { return false }
        // "the key: it is …" is a sentence.
        let isSentence = bytes[next] == UInt8(ascii: ":") && next == word.upperBound && afterBlanks(next + 1) > next + 1
        guard !isAmbiguous || !isSentence || SecretMask.isSecret(name) else { return false }
        next = afterBlanks(next + 1)
        let isEscaped = next < bytes.count && bytes[next] == UInt8(ascii: "\\")
        if isEscaped { next += 1 }
        var end = next
        if next < bytes.count, Self.isQuote(bytes[next]) {
            next += 1
            end = endOfQuoted(from: next, by: bytes[next - 1], isEscaped: isEscaped)
        } else if next < bytes.count, "{[".utf8.contains(bytes[next]) {
            return false
        } else {
            // What HTTP calls a credential has several words.
            let isLine = ["authorization", "cookie"].contains { name.lowercased().hasSuffix($0) }
            end = after(next) { isLine ? $0 != UInt8(ascii: "\n") : !Self.endsValue($0) }
        }
        let value = String(decoding: bytes[next..<end], as: UTF8.self)
        guard !value.isEmpty, !["true", "false", "null"].contains(value), !SecretMask.isTemplate(value),
            isCode || SecretMask.hides(value, of: name, known: known)
        else { return false }
        copy(to: next)
        mask(to: end)
        return true
    }

    /// `--password …`, `"--token","…"`; `-u name:password`.
    private mutating func maskOption(_ word: Range<Int>) -> Bool {
        guard bytes[word.lowerBound] == UInt8(ascii: "-") else { return false }
        let name = String(decoding: bytes[word], as: UTF8.self)
        let isUser = ["-u", "-U", "--user", "--proxy-user"].contains(name)
        guard isUser || SecretMask.isSecret(name) || SecretMask.isAmbiguous(name) else { return false }
        var next = afterQuote(word.upperBound)
        if next > word.upperBound, next < bytes.count, bytes[next] == UInt8(ascii: ",") { next += 1 }
        next = afterBlanks(next)
        let start = afterQuote(next)
        guard start > afterQuote(word.upperBound), start < bytes.count, bytes[start] != UInt8(ascii: "-") else {
            return false
        }
        var end = after(start) { !Self.endsValue($0) }
        if start > next {
            end = endOfQuoted(from: start, by: bytes[start - 1], isEscaped: bytes[next] == UInt8(ascii: "\\"))
        }
        let value = String(decoding: bytes[start..<end], as: UTF8.self)
        guard !value.isEmpty, isUser ? value.contains(":") : SecretMask.hides(value, of: name, known: known) else {
            return false
        }
        copy(to: start)
        mask(to: end)
        return true
    }

    /// After a quotation mark, which may be that of a text in another text.
    private func afterQuote(_ start: Int) -> Int {
        let mark = start < bytes.count && bytes[start] == UInt8(ascii: "\\") ? start + 1 : start
        return mark < bytes.count && Self.isQuote(bytes[mark]) ? mark + 1 : start
    }

    /// - Parameter isEscaped: whether the quotation marks are those of a text in another text.
    private func endOfQuoted(from start: Int, by quote: UInt8, isEscaped: Bool) -> Int {
        var end = start
        while end < bytes.count, bytes[end] != UInt8(ascii: "\n") {
            if bytes[end] == UInt8(ascii: "\\") {
                if isEscaped, end + 1 < bytes.count, bytes[end + 1] == quote { break }
                end += 1
            } else if bytes[end] == quote {
                break
            }
            end += 1
        }
        return min(end, bytes.count)
    }

    private static func endsValue(_ byte: UInt8) -> Bool { byte <= 0x20 || ",;&)}]\"'<>\\".utf8.contains(byte) }
    private static func isQuote(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") }

    /// `Bearer …`, `Basic …`
    private mutating func maskCredentials(after word: Range<Int>) -> Bool {
        guard ["bearer", "basic"].contains(String(decoding: bytes[word], as: UTF8.self).lowercased()) else {
            return false
        }
        let start = afterBlanks(word.upperBound)
        let end = after(start) { Self.isOfToken($0) || $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: ".") }
        guard start > word.upperBound, end - start >= 8 else { return false }
        copy(to: start)
        mask(to: end)
        return true
    }

    // MARK: What looks like a token

    private mutating func maskOpaque(from start: Int) -> Bool {
        guard masksOpaque else { return false }
        let isSigned = bytes[start...].starts(with: Array("eyJ".utf8))
        var end = after(start) { Self.isOfToken($0) || (isSigned && $0 == UInt8(ascii: ".")) }
        guard Self.looksRandom(bytes[start..<end]), !isKnown(start..<end) else { return false }
        end = after(end) { $0 == UInt8(ascii: "=") }
        mask(to: end)
        return true
    }

    /// Long, and of letters and digits as no person writes them.
    static func looksRandom(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard bytes.count >= 20 else { return false }
        var (lower, upper, digits, others, isHexadecimal) = (0, 0, 0, 0, true)
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"): lower += 1
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): upper += 1
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digits += 1
            default: others += 1
            }
            let isDigit = "0123456789abcdefABCDEF-".utf8.contains(byte)
            isHexadecimal = isHexadecimal && isDigit
        }
        guard digits > 0, lower + upper > 0 else { return false }
        return (lower > 0 && upper > 0) || (isHexadecimal && bytes.count >= 24) || (others == 0 && digits >= 4)
    }

    // MARK: Bytes

    private static func isOfToken(_ byte: UInt8) -> Bool {
        ASCII.isWord(byte) || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "/")
    }

    private func after(_ start: Int, while fits: (UInt8) -> Bool) -> Int {
        var end = min(start, bytes.count)
        while end < bytes.count, fits(bytes[end]) { end += 1 }
        return end
    }

    private func afterBlanks(_ start: Int) -> Int {
        after(start) { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    }

    private mutating func copy(to end: Int) {
        guard end > position else { return }
        output += bytes[position..<end]
        position = end
    }

    private mutating func mask(to end: Int) {
        output += Array(SecretMask.mark.utf8)
        position = end
    }
}
