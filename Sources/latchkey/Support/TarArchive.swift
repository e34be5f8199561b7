/// An archive of regular files in ustar format (POSIX.1-2017, pax), for a handful of small files.
struct TarArchive {
    private static let block = 512
    private(set) var bytes: [UInt8] = []
    /// Seconds since 1970, of every file.
    let time: Int

    init(time: Int) { self.time = time }

    /// - Parameter name: relative, at most 100 bytes.
    mutating func add(_ name: String, _ content: [UInt8]) {
        var header = [UInt8](repeating: 0, count: Self.block)
        func put(_ text: String, at offset: Int, limit: Int) {
            for (index, byte) in text.utf8.prefix(limit).enumerated() { header[offset + index] = byte }
        }
        func put(_ number: Int, at offset: Int, digits: Int) {
            let text = String(number, radix: 8)
            put(String(repeating: "0", count: max(0, digits - text.count)) + text, at: offset, limit: digits)
        }
        put(name, at: 0, limit: 100)
        put(0o600, at: 100, digits: 7)
        put(0, at: 108, digits: 7)
        put(0, at: 116, digits: 7)
        put(content.count, at: 124, digits: 11)
        put(time, at: 136, digits: 11)
        // The sum is made with blanks in its own place.
        put("        0", at: 148, limit: 9)
        put("ustar", at: 257, limit: 5)
        put("00", at: 263, limit: 2)
        put(header.reduce(0) { $0 + Int($1) }, at: 148, digits: 6)
        header[154] = 0
        bytes += header + content
        bytes += [UInt8](repeating: 0, count: (Self.block - content.count % Self.block) % Self.block)
    }

    /// With the two empty blocks that end an archive.
    var ended: [UInt8] { bytes + [UInt8](repeating: 0, count: 2 * Self.block) }
}
