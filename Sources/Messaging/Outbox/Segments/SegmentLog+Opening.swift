import Glibc
import Groundwork
import Storage

extension SegmentLog {
    /// Opens the segments, or makes the first one.
    ///
    /// - Parameters:
    ///   - synced: the number of a transaction that is known to be on the disk; -1 minus it if all has to be checked.
    ///   - checkedBytes: up to so many bytes, all of them are checked.
    /// - Returns: whether something is damaged: then ``repair()`` has to follow.
    func open(synced: Int64, checkedBytes: Int) throws(StorageError) -> Bool {
        unlink("\(path)-new")
        segments = try SegmentLog.firstNumbers(at: path).map { first throws(StorageError) in
            Segment(first: first, bytes: try PlainFile(name(first), of: path).size())
        }
        self.synced = UInt64(synced < 0 ? -1 - synced : synced)
        guard !segments.isEmpty else {
            number = self.synced
            try rotate()
            return false
        }
        isNewestWhole = try replay()
        number = max(number, self.synced)
        guard isNewestWhole, synced >= 0 else { return true }
        // Those that are still there may be what was being erased.
        isErasing = true
        removeEmptySegments()
        isErasing = false
        guard bytes <= checkedBytes else { return false }
        do {
            return try count() != (state.ledger.depth, state.ledger.bytes)
        } catch  where error.isDamage {
            return true
        }
    }

    /// The first number of each segment, ascending.
    static func firstNumbers(at path: String) throws(StorageError) -> [Int64] {
        let names = SegmentLog(path: path, mark: 0, segmentBytes: 0)
        return try PlainFile.companions(of: path).compactMap { suffix in
            // Anything but such a name gives a number of another name.
            let first = Int64(strtoll(String(suffix.dropFirst()), nil, 16))
            return first > 0 && names.name(first) == path + suffix ? first : nil
        }.sorted()
    }

    /// Overwrites and removes all segments of an outbox.
    static func remove(at path: String) throws(StorageError) {
        let log = SegmentLog(path: path, mark: 0, segmentBytes: 0)
        for first in try firstNumbers(at: path) where (try? PlainFile.erase(log.name(first), of: path)) == nil {
            unlink(log.name(first))
        }
        unlink("\(path)-new")
    }

    /// The mark of segments that have lost their database: the first 8 bytes of one, if one of its frames has them too.
    static func mark(at path: String) throws(StorageError) -> UInt64? {
        let names = SegmentLog(path: path, mark: 0, segmentBytes: 0)
        for first in try firstNumbers(at: path) {
            let file = try PlainFile(names.name(first), of: path)
            let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 8, alignment: 8)
            defer { bytes.deallocate() }
            guard try file.read(into: bytes, at: 0) == 8 else { continue }
            let mark = UInt64(littleEndian: bytes.load(as: UInt64.self))
            if try SegmentReader(names.name(first), mark: mark, of: path).hasFrame() { return mark }
        }
        return nil
    }

    /// Sets aside all segments of an outbox.
    ///
    /// - Returns: the new name of the first.
    static func setAsideAll(at path: String) throws(StorageError) -> String? {
        let names = SegmentLog(path: path, mark: 0, segmentBytes: 0)
        var setAside: String?
        for first in try firstNumbers(at: path) {
            let new = try PlainFile.setAside(names.name(first))
            setAside = setAside ?? new
            unlink(names.name(first))
        }
        return setAside
    }

    /// Messages that have not left, and their bytes.
    func count() throws(StorageError) -> (depth: Int, bytes: Int) {
        let scan = SegmentScan(self, after: 0)
        var found = (depth: 0, bytes: 0)
        while let message = try scan.next() { found = (found.depth + 1, found.bytes + message.size) }
        return found
    }

    /// Opens the newest segment for writing.
    func reopen() throws(StorageError) {
        let newest = segments.count - 1
        file = try PlainFile(name(segments[newest].first), of: path)
        tail = segments[newest].bytes
        (reserved, prepared) = (0, tail)
        keepRoom()
    }

    /// Reads the newest segment, and cuts off a transaction that a power cut has torn.
    ///
    /// - Returns: false if it is damaged.
    private func replay() throws(StorageError) -> Bool {
        let newest = segments.count - 1
        let size = segments[newest].bytes
        let reader = try SegmentReader(name(segments[newest].first), mark: mark, of: path)
        var (offset, end, pending, ended) = (0, 0, OutboxState(), UInt64(0))
        pending.newest = segments[newest].first - 1
        while let (frame, bytes) = try reader.frame(at: offset, limit: size) {
            // A frame of the transaction that begins where the last one ended.
            guard frame.start == end, offset == end ? frame.number > number || end == 0 : frame.number == number else {
                break
            }
            guard pending.apply(bytes) else { return false }
            number = max(number, frame.number)
            offset += OutboxFrame.headerBytes + frame.length
            if frame.isLast { (state, end, ended) = (pending, offset, frame.number) }
        }
        guard end > 0, ended >= synced else { return false }
        // Behind it there may be the rest of one transaction. If there is one that began later, this one had been
        // synced.
        var rest: Int? = end
        while let place = rest {
            if let (frame, _) = try reader.frame(at: place, limit: size), frame.number > number || frame.start == end {
                guard frame.start == end else { return false }
                number = max(number, frame.number)
            }
            rest = try reader.candidate(after: place, limit: size)
        }
        segments[newest].bytes = end
        try reopen()
        if size > end { try takeOverRoom(upTo: size, reader) }
        // After a kill it may be in memory only.
        do throws(StorageError) {
            try file?.sync()
            durableNumber = ended
        } catch {
            isDoubtful = true
        }
        return true
    }
}

extension OutboxState {
    /// - Returns: false if something is not a record.
    mutating func apply(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var records = OutboxRecords(bytes)
        while let record = records.next() { apply(record) }
        return !records.isMalformed
    }
}
