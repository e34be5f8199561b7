/// What `GET /lab/file/{bytes}` answers with, to be compared.
public enum LabFile {
    /// A prime number of bytes that repeat, so that a part that is missing, or in the wrong place, is seen: no buffer
    /// has such a length. Long content is made of it without touching each byte.
    private static let block = (0..<65_521).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }

    /// The bytes from one place to another of the endless content.
    /// - Parameters:
    ///   - start: at least 0.
    ///   - end: at least `start`; not part of it.
    public static func content(from start: Int = 0, to end: Int) -> [UInt8] {
        var content: [UInt8] = []
        content.reserveCapacity(end - start)
        var place = start
        while place < end {
            let offset = place % block.count
            let part = block[offset..<min(block.count, offset + end - place)]
            content.append(contentsOf: part)
            place += part.count
        }
        return content
    }
}
