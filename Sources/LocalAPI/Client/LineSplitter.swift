/// Assembles the pieces of a stream into lines.
struct LineSplitter {
    /// Longest line, in bytes: an event with the largest message, each byte of it escaped.
    static let limit = 8 << 20

    private var rest: [UInt8] = []

    /// - Returns: the lines that are complete now, without their line feeds.
    /// - Throws: ``LocalAPIError/noAnswer(reason:)`` when a line is longer than the limit.
    mutating func add(_ piece: [UInt8]) throws(LocalAPIError) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        var start = piece.startIndex
        // `rest` never contains a line feed.
        while let end = piece[start...].firstIndex(of: UInt8(ascii: "\n")) {
            lines.append(rest + piece[start..<end])
            rest = []
            start = end + 1
        }
        rest += piece[start...]
        guard rest.count <= Self.limit else { throw .noAnswer(reason: "a line of the event stream is too long") }
        return lines
    }
}
