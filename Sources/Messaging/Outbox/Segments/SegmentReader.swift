import Storage

/// Reads the frames of a segment, some at a time.
final class SegmentReader {
    private let file: PlainFile
    private let mark: UInt64
    /// What was read last, and where in the file it begins.
    private var window = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    /// As large as what there is to read, up to this many bytes unless a frame is larger.
    private static let windowBytes = 1 << 16
    private var start = 0
    private var filled = 0

    init(_ path: String, mark: UInt64, of store: String) throws(StorageError) {
        file = try PlainFile(path, of: store)
        self.mark = mark
    }

    deinit { window.deallocate() }

    func size() throws(StorageError) -> Int { try file.size() }

    /// The frame at `offset` with its records, which are valid until the next call.
    ///
    /// - Parameter limit: where what may be read ends.
    /// - Returns: `nil` if there is no whole and undamaged frame.
    func frame(
        at offset: Int, limit: Int
    ) throws(StorageError) -> (frame: OutboxFrame, records: UnsafeRawBufferPointer)? {
        var needed = OutboxFrame.headerBytes
        while needed <= limit - offset {
            try fill(offset, needed, limit)
            guard filled - (offset - start) >= needed else { return nil }
            let rest = UnsafeRawBufferPointer(rebasing: window[offset - start..<min(filled, limit - start)])
            switch OutboxFrame.parse(rest, mark: mark) {
            case .needs(let more): needed = more
            case .none: return nil
            case .frame(let frame):
                let end = OutboxFrame.headerBytes + frame.length
                return (frame, UnsafeRawBufferPointer(rebasing: rest[OutboxFrame.headerBytes..<end]))
            }
        }
        return nil
    }

    /// The next place after `offset` where a frame may begin.
    func candidate(after offset: Int, limit: Int) throws(StorageError) -> Int? {
        var from = offset + 1
        while from + OutboxFrame.headerBytes <= limit {
            try fill(from, OutboxFrame.headerBytes, limit)
            let end = min(filled, limit - start)
            var place = from - start
            while place + 8 <= end {
                let found = window.loadUnaligned(fromByteOffset: place, as: UInt64.self)
                if UInt64(littleEndian: found) == mark { return start + place }
                place += 1
            }
            // It may begin in what was read and end behind it.
            from = start + max(place, from - start + 1)
        }
        return nil
    }

    func isZero(_ range: Range<Int>) throws(StorageError) -> Bool {
        try fill(range.lowerBound, range.count, range.upperBound)
        let found = window[(range.lowerBound - start)..<min(filled, range.upperBound - start)]
        return found.count == range.count && !found.contains { $0 != 0 }
    }

    /// Whether there is any whole and undamaged frame.
    func hasFrame() throws(StorageError) -> Bool {
        let size = try size()
        var place: Int? = 0
        while let offset = place {
            if try frame(at: offset, limit: size) != nil { return true }
            place = try candidate(after: offset, limit: size)
        }
        return false
    }

    private func fill(_ offset: Int, _ needed: Int, _ limit: Int) throws(StorageError) {
        if offset >= start, offset + needed <= start + filled { return }
        filled = 0
        let room = max(needed, min(Self.windowBytes, limit - offset))
        if window.count < room {
            window.deallocate()
            window = .allocate(byteCount: room, alignment: 16)
        }
        start = offset
        filled = try file.read(
            into: UnsafeMutableRawBufferPointer(rebasing: window[..<min(window.count, limit - offset)]), at: offset)
    }
}
