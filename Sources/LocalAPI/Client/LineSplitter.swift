import Glibc

/// Assembles the pieces of a stream into lines.
struct LineSplitter {
    /// Longest line, in bytes: an event with the largest message, each byte of it escaped.
    static let limit = 8 << 20

    private var rest: [UInt8] = []

    /// - Returns: the lines that are complete now, without their line feeds.
    /// - Throws: ``LocalAPIError/noAnswer(reason:)`` when a line is longer than the limit.
    mutating func add(_ piece: [UInt8]) throws(LocalAPIError) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        piece.withUnsafeBytes { bytes in
            var left = bytes[...]
            // `rest` never contains a line feed.
            while let start = left.isEmpty ? nil : bytes.baseAddress?.advanced(by: left.startIndex),
                let end = memchr(start, Int32(UInt8(ascii: "\n")), left.count)
            {
                let length = UnsafeRawPointer(end) - start
                rest += left.prefix(length)
                lines.append(rest)
                rest = []
                left = left.dropFirst(length + 1)
            }
            rest += left
        }
        guard rest.count <= Self.limit else { throw .noAnswer(reason: "a line of the event stream is too long") }
        return lines
    }
}
