/// A deflate stream (RFC 1951) of stored blocks (section 3.2.4): nothing is compressed, and no library is needed.
public enum StoredBlocks {
    /// The most bytes of a stored block.
    private static let limit = 65_535

    /// - Returns: the content in blocks, one of no bytes if it is empty.
    public static func stream(of content: [UInt8]) -> [UInt8] {
        var stream: [UInt8] = []
        var rest = content[...]
        repeat {
            let block = rest.prefix(limit)
            rest = rest.dropFirst(limit)
            let count = UInt16(block.count)
            stream.append(rest.isEmpty ? 1 : 0)
            stream += [UInt8(count & 0xFF), UInt8(count >> 8), UInt8(~count & 0xFF), UInt8(~count >> 8)]
            stream += block
        } while !rest.isEmpty
        return stream
    }
}
