/// Text from a file, a pipe or a program as people's tools write it: UTF-8 with or without a byte order mark, or UTF-16
/// that begins with one, as editors and shells of Windows save it.
public enum ReceivedText {
    /// Why bytes are not text. Does not quote them.
    public struct Fault: Error, Equatable {
        /// Completes a sentence about the text.
        public let reason: String
    }

    private enum Encoding {
        case utf8
        case utf16(isBigEndian: Bool)
    }

    /// - Returns: the text without its mark.
    /// - Throws: ``Fault`` that names the line.
    public static func decode(_ bytes: some Sequence<UInt8>) throws(Fault) -> String {
        let content = try utf8(Array(bytes))
        guard let text = String(validating: content, as: UTF8.self) else {
            throw Fault(reason: "line \(firstBadLine(content)) is not UTF-8: save it as UTF-8")
        }
        if content.contains(0) {
            let line = lineNumber(after: content.prefix { $0 != 0 })
            throw Fault(reason: "line \(line) contains the byte 0: save it as UTF-8, not as UTF-16")
        }
        return text
    }

    /// Like ``decode(_:)`` for a text with parts that do not count, such as PEM between remarks: replaces what is not
    /// UTF-8.
    public static func decodeWherePossible(_ bytes: [UInt8]) -> String {
        String(decoding: (try? utf8(bytes)) ?? bytes, as: UTF8.self)
    }

    /// The bytes of the text in UTF-8 without its mark. What begins without a mark of UTF-16 stays unchanged, valid or
    /// not.
    public static func utf8(_ bytes: [UInt8]) throws(Fault) -> [UInt8] {
        let (encoding, start) = encoding(of: bytes)
        guard case .utf16(let isBigEndian) = encoding else { return start == 0 ? bytes : Array(bytes[start...]) }
        guard bytes.count.isMultiple(of: 2) else { throw Fault(reason: "it is UTF-16 and ends within a character") }
        let units = stride(from: start, to: bytes.count, by: 2).lazy.map { index in
            let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
            return isBigEndian ? first << 8 | second : second << 8 | first
        }
        var content: [UInt8] = []
        content.reserveCapacity(bytes.count / 2)
        let isBroken = transcode(
            units.makeIterator(), from: UTF16.self, to: Unicode.UTF8.self, stoppingOnError: true,
            into: { content.append($0) })
        guard !isBroken else {
            throw Fault(reason: "line \(lineNumber(after: content)) is not UTF-16, unlike the beginning of the text")
        }
        return content
    }

    private static func encoding(of bytes: [UInt8]) -> (Encoding, start: Int) {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return (.utf8, 3) }
        if bytes.starts(with: [0xFF, 0xFE]) { return (.utf16(isBigEndian: false), 2) }
        if bytes.starts(with: [0xFE, 0xFF]) { return (.utf16(isBigEndian: true), 2) }
        return (.utf8, 0)
    }

    private static func firstBadLine(_ content: [UInt8]) -> Int {
        let lines = content.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        return 1 + (lines.firstIndex { String(validating: $0, as: UTF8.self) == nil } ?? 0)
    }

    private static func lineNumber(after content: some Sequence<UInt8>) -> Int {
        content.reduce(1) { $0 + ($1 == UInt8(ascii: "\n") ? 1 : 0) }
    }
}
