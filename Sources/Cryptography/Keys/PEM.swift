import Groundwork

/// The textual encoding of certificates and keys (RFC 7468 sections 2, 5 and 10), as people's tools write it: with text
/// around it, byte order marks, headers (RFC 1421 section 4.4), indented, with the labels of older tools.
enum PEM {
    /// What stands between two markers.
    struct Block: Equatable {
        /// Such as `CERTIFICATE`.
        let label: String
        /// The number of the line that begins it.
        let line: Int
        /// Without headers.
        let base64: [Substring]
        /// The number of the first line of ``base64``.
        let firstLine: Int

        /// - Parameter subject: what is expected, for an error.
        func der(_ subject: CryptographyError.Subject) throws(CryptographyError) -> [UInt8] {
            if let der = Base64.decode(base64.map(PEM.packed).joined()) { return der }
            let wrong = base64.firstIndex { line in !PEM.packed(line).utf8.allSatisfy(PEM.isBase64) }
            guard let wrong else {
                throw .malformed(subject, reason: "the base64 after line \(line) is truncated or too long")
            }
            throw .malformed(subject, reason: "line \(firstLine + wrong) is not base64")
        }
    }

    private static let lineLength = 64
    private static let dashes = "-----"
    /// The labels of a certificate; the second is an old one, the third has OpenSSL's settings of trust after it.
    static let certificateLabels: Set = ["CERTIFICATE", "X509 CERTIFICATE", trustedLabel]
    static let trustedLabel = "TRUSTED CERTIFICATE"

    /// The maximum length of a text, in bytes; all public authorities of a system have 220 KB.
    static let limit = 1 << 20

    static func encode(_ der: [UInt8], label: String = "CERTIFICATE") -> String {
        var lines = ["-----BEGIN \(label)-----"]
        var rest = Base64.encode(der)[...]
        while !rest.isEmpty {
            lines.append(String(rest.prefix(lineLength)))
            rest = rest.dropFirst(lineLength)
        }
        return (lines + ["-----END \(label)-----", ""]).joined(separator: "\n")
    }

    /// The bytes of every certificate. Skips text around them and blocks of other kinds.
    static func decode(_ text: String) throws(CryptographyError) -> [[UInt8]] {
        var found: [[UInt8]] = []
        for block in try blocks(in: text, .certificate) where certificateLabels.contains(block.label) {
            found.append(try block.der(.certificate))
        }
        return found
    }

    /// - Parameter subject: what is expected, for an error.
    /// - Throws: ``CryptographyError`` that names the line.
    static func blocks(
        in text: String, _ subject: CryptographyError.Subject
    ) throws(CryptographyError) -> [Block] {
        guard text.utf8.count <= limit else { throw .tooLong(subject, count: text.utf8.count, limit: limit) }
        var found: [Block] = []
        var open: Opening?
        var number = 0
        for raw in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
            number += 1
            let line = raw.trimming { $0.isWhitespace || $0 == "\u{FEFF}" }
            let marker = try Marker(line, number, isInside: open != nil, subject)
            switch (marker, open) {
            case (.begin(let label), nil): open = Opening(label: label, line: number)
            case (.begin, .some(let earlier)):
                throw .malformed(
                    subject, reason: "line \(number) begins before the block of line \(earlier.line) ends")
            case (.end, nil): throw .malformed(subject, reason: "line \(number) ends a block that does not begin")
            case (.end(let label), .some(let opening)):
                found.append(try opening.closed(by: label, in: number, subject))
                open = nil
            case (nil, .some): open?.add(line, number)
            case (nil, nil): break
            }
        }
        if let open { throw .malformed(subject, reason: "the block that begins in line \(open.line) does not end") }
        return found
    }

    // MARK: Lines

    private enum Marker {
        case begin(String)
        case end(String)

        /// - Returns: `nil` if the line is none.
        /// - Throws: ``CryptographyError`` if a marker is not alone in its line.
        init?(
            _ line: Substring, _ number: Int, isInside: Bool, _ subject: CryptographyError.Subject
        ) throws(CryptographyError) {
            guard line.hasPrefix(dashes) || isInside && line.contains(dashes) else { return nil }
            let inner = line.dropFirst(dashes.count).dropLast(dashes.count).trimming(while: \.isWhitespace)
            let isAlone = line.hasPrefix(dashes) && line.hasSuffix(dashes) && !inner.contains(dashes)
            let words = inner.split(separator: " ", maxSplits: 1)
            let isMarker = words.first == "BEGIN" || words.first == "END"
            guard isAlone, isMarker, words.count == 2 else {
                // A line of hyphens separates remarks.
                guard isInside || line.contains("BEGIN ") || line.contains("END ") else { return nil }
                throw .malformed(
                    subject,
                    reason: "line \(number) does not have exactly one marker: write each BEGIN and END line alone")
            }
            let label = words[1].trimming(while: \.isWhitespace)
            self = words[0] == "BEGIN" ? .begin(String(label)) : .end(String(label))
        }
    }

    /// A block whose end has not come yet.
    private struct Opening {
        let label: String
        let line: Int
        private var base64: [Substring] = []
        private var firstLine = 0
        private var isInHeaders = false

        init(label: String, line: Int) {
            (self.label, self.line) = (label, line)
        }

        mutating func add(_ text: Substring, _ number: Int) {
            if isInHeaders {
                isInHeaders = !text.isEmpty
            } else if base64.isEmpty, text.contains(":") {
                isInHeaders = true
            } else if !base64.isEmpty || !text.isEmpty {
                if base64.isEmpty { firstLine = number }
                base64.append(text)
            }
        }

        func closed(
            by other: String, in number: Int, _ subject: CryptographyError.Subject
        ) throws(CryptographyError) -> Block {
            guard label == other else {
                throw .malformed(
                    subject, reason: "line \(number) ends a different kind of block than line \(line) begins")
            }
            guard !isInHeaders else {
                throw .malformed(
                    subject, reason: "the headers after line \(line) do not end: write an empty line after them")
            }
            return Block(label: label, line: line, base64: base64, firstLine: firstLine)
        }
    }

    fileprivate static func packed(_ line: Substring) -> String { line.filter { !$0.isWhitespace } }

    fileprivate static func isBase64(_ byte: UInt8) -> Bool {
        ASCII.isLetterOrDigit(byte) || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "/")
            || byte == UInt8(ascii: "=")
    }
}
