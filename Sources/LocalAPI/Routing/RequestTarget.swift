import Groundwork

/// Path and query of a request, decoded strictly: a text that two parsers could read differently is refused.
struct RequestTarget: Equatable {
    /// The segments of the path, each decoded.
    let segments: [String]
    let query: [String: String]

    var path: String { "/" + segments.joined(separator: "/") }

    /// `/` without a query.
    static let root = RequestTarget(segments: [], query: [:])

    private init(segments: [String], query: [String: String]) { (self.segments, self.query) = (segments, query) }

    /// - Parameter target: the origin form (RFC 9112 section 3.2.1) as it was sent.
    /// - Throws: ``LocalAPIError/badTarget(reason:)``
    init(_ target: some Collection<UInt8>) throws(LocalAPIError) {
        if let byte = target.first(where: { !Self.isPlain($0) }) {
            throw .badTarget(reason: "contains the byte 0x\(Hex.encode([byte])), which must be percent-encoded")
        }
        let parts = target.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
        guard let path = parts.first, path.first == UInt8(ascii: "/") else {
            throw .badTarget(reason: "does not begin with /")
        }
        segments = try Self.segments(path.dropFirst())
        query = try Self.query(parts.count > 1 ? Array(parts[1]) : [])
    }

    private static func segments(_ path: some Collection<UInt8>) throws(LocalAPIError) -> [String] {
        guard !path.isEmpty else { return [] }
        var segments: [String] = []
        for segment in path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            let decoded = try decode(segment)
            guard !decoded.isEmpty else { throw .badTarget(reason: "has an empty path segment") }
            // By bytes: a character may be a slash with an accent.
            guard decoded != ".", decoded != "..", !decoded.utf8.contains(where: { $0 == 0x2F || $0 == 0x5C }) else {
                throw .badTarget(reason: "has a path segment that leads elsewhere")
            }
            segments.append(decoded)
        }
        return segments
    }

    private static func query(_ text: [UInt8]) throws(LocalAPIError) -> [String: String] {
        guard !text.isEmpty else { return [:] }
        var query: [String: String] = [:]
        for pair in text.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            // A plus sign is a blank, as in forms, which every client library writes so (WHATWG URL, section 5.1).
            let words = parts.map { $0.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 } }
            let name = try decode(words[0])
            guard !name.isEmpty, words.count == 2 else {
                throw .badTarget(reason: "has a query that is not name=value")
            }
            guard query[name] == nil else { throw .badTarget(reason: "names \(name) twice") }
            query[name] = try decode(words[1])
        }
        return query
    }

    /// Percent-decoding (RFC 3986 section 2.1).
    private static func decode(_ text: some Collection<UInt8>) throws(LocalAPIError) -> String {
        guard let bytes = PercentEncoding.decode(text) else {
            throw .badTarget(reason: "has a broken percent-encoding")
        }
        guard !bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw .badTarget(reason: "contains control characters")
        }
        guard let decoded = String(validating: bytes, as: UTF8.self) else { throw .badTarget(reason: "is not UTF-8") }
        return decoded
    }

    /// Whether a path or query may hold this byte (RFC 3986 section 3.3 and 3.4).
    private static func isPlain(_ byte: UInt8) -> Bool {
        PercentEncoding.isUnreserved(byte) || "!$&'()*+,;=:@/?%".utf8.contains(byte)
    }
}
