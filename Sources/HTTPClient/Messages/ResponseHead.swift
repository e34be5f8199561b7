import Groundwork

/// Collects the head of a response from its lines, within bounds (RFC 9112 sections 4 and 5).
public struct ResponseHead: Sendable {
    /// The most bytes of all header lines of one answer, interim answers and trailers included.
    public static let byteLimit = 65_536
    /// The most fields of one head.
    static let fieldLimit = 200

    public enum Outcome: Equatable {
        case incomplete
        /// The final head is complete.
        case complete
        case tooLarge
        case malformed
    }

    /// 0 before the first line.
    public private(set) var status = 0
    private(set) var headers = HTTPHeaders()
    private var byteCount = 0
    private var isComplete = false

    public init() {}

    /// - Parameter line: one line as received, with its line ending.
    public mutating func receive(_ line: some Collection<UInt8>) -> Outcome {
        byteCount += line.count
        guard byteCount <= Self.byteLimit else { return .tooLarge }
        // Lines after the final head are trailers: they are counted and ignored.
        guard !isComplete else { return .incomplete }
        let text = String(decoding: line.prefix { $0 != 0x0D && $0 != 0x0A }, as: UTF8.self)
        if text.isEmpty { return finish() }
        if status == 0 { return begin(with: text) }
        if let first = text.utf8.first, first == 0x20 || first == 0x09 {
            headers.continueLast(with: trimmed(text[...]))
            return .incomplete
        }
        guard let colon = text.firstIndex(of: ":"), colon > text.startIndex else { return .malformed }
        guard headers.count < Self.fieldLimit else { return .tooLarge }
        headers.add(String(text[..<colon]), trimmed(text[text.index(after: colon)...]))
        return .incomplete
    }

    /// `HTTP/1.1 200 OK`, or `HTTP/2 200`.
    private mutating func begin(with line: String) -> Outcome {
        let parts = line.split(separator: " ", maxSplits: 2)
        guard parts.count >= 2, parts[0].hasPrefix("HTTP/"), parts[1].utf8.count == 3, let code = Int(parts[1]),
            (100..<1000).contains(code)
        else { return .malformed }
        status = code
        return .incomplete
    }

    /// An empty line ends a head; an interim one (1xx, RFC 9110 section 15.2) is dropped and the next begins.
    private mutating func finish() -> Outcome {
        guard status >= 200 else {
            guard status > 0 else { return .malformed }
            (status, headers) = (0, [:])
            return .incomplete
        }
        isComplete = true
        return .complete
    }

    /// The text without leading and trailing spaces and tabs; other white space stays (RFC 9110 section 5.6.3).
    private func trimmed(_ text: Substring) -> String {
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        return String(decoding: text.utf8.trimming(while: isBlank), as: UTF8.self)
    }
}
