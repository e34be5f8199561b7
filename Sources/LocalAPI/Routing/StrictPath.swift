/// A path that every reader reads the same way: without empty and dot segments, also where parameters follow the dots,
/// and without encoded slashes, also where they are encoded twice.
public enum StrictPath {
    /// The segments of a path, each decoded; the last is empty if the path ends with a slash.
    ///
    /// - Parameter path: beginning with `/`, without a query.
    /// - Throws: ``LocalAPIError/badTarget(reason:)``
    public static func segments(of path: some StringProtocol) throws(LocalAPIError) -> [String] {
        let text = Array(path.utf8)
        // A query would be cut off in silence.
        guard !text.contains(UInt8(ascii: "?")) else { throw .badTarget(reason: "has a query in its path") }
        let endsWithSlash = text.count > 1 && text.last == UInt8(ascii: "/")
        var segments = try RequestTarget(endsWithSlash ? text.dropLast() : text[...]).segments
        for segment in segments {
            guard !["", ".", ".."].contains(name(of: segment)) else {
                throw .badTarget(reason: "has a path segment that leads elsewhere")
            }
            guard !isStillEncoded(Array(segment.utf8)) else {
                throw .badTarget(reason: "has a path segment that is encoded twice")
            }
        }
        if endsWithSlash { segments.append("") }
        return segments
    }

    /// A segment without its parameters, which some servers cut off (RFC 3986 section 3.3).
    public static func name(of segment: String) -> String {
        String(decoding: segment.utf8.prefix { $0 != UInt8(ascii: ";") }, as: UTF8.self)
    }

    private static func isStillEncoded(_ text: [UInt8]) -> Bool {
        text.indices.dropLast(2).contains { index in
            text[index] == UInt8(ascii: "%") && text[(index + 1)...(index + 2)].allSatisfy(isHexDigit)
        }
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
    }
}
