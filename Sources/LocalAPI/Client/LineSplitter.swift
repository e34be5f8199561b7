import Glibc

/// Assembles the pieces of a stream into lines.
struct LineSplitter {
    /// Longest line, in bytes: an event with the largest message, each byte of it escaped.
    static let limit = 8 << 20

    /// Has no line feed.
    private var rest: [UInt8] = []

    /// - Returns: the lines that are complete now, without their line feeds. They share the memory of the piece.
    /// - Throws: ``LocalAPIError/noAnswer(reason:)`` when a line is longer than the limit.
    mutating func add(_ piece: [UInt8]) throws(LocalAPIError) -> [ArraySlice<UInt8>] {
        var searched = rest.count
        if rest.isEmpty { rest = piece } else { rest += piece }
        var lines: [ArraySlice<UInt8>] = []
        var start = 0
        while let end = rest.firstLineFeed(from: searched) {
            lines.append(rest[start..<end])
            start = end + 1
            searched = start
        }
        if start > 0 { rest = Array(rest[start...]) }
        guard rest.count <= Self.limit else { throw .noAnswer(reason: "a line of the event stream is too long") }
        return lines
    }
}

extension [UInt8] {
    fileprivate func firstLineFeed(from place: Int) -> Int? {
        withUnsafeBytes { bytes in
            guard place < bytes.count, let base = bytes.baseAddress,
                let found = memchr(base + place, Int32(UInt8(ascii: "\n")), bytes.count - place)
            else { return nil }
            return UnsafeRawPointer(found) - base
        }
    }
}
