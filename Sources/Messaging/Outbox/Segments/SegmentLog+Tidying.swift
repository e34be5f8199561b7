import Glibc
import Groundwork
import Storage

extension SegmentLog {
    /// Bytes of all segments.
    var bytes: Int { segments.reduce(0) { $0 + $1.bytes } }

    /// Removes the segments whose messages have all left, and rewrites others that hold too much of what has left. What
    /// fails is done another time.
    func tidy() {
        if state.ledger.depth <= 0, segments[segments.count - 1].bytes >= segmentBytes { try? rotate() }
        removeEmptySegments()
        while bytes > 2 * max(0, state.ledger.bytes) + 4 * segmentBytes || state.removed.ranges.count > Self.rangeLimit,
            let index = nextToRewrite
        {
            do throws(StorageError) {
                try rewrite(index)
            } catch {
                // One that cannot be read is left to the next start; a disk that is full may have room then.
                guard error.isDamage else { return }
                segments[index].isTouched = false
            }
        }
    }

    /// Whether all messages of a segment have left, and it is not the newest.
    func isEmpty(_ index: Int) -> Bool {
        guard index < segments.count - 1 else { return false }
        return state.removed.covers(segments[index].first...last(of: index))
    }

    func removeEmptySegments() {
        var left: [Segment] = []
        for (index, segment) in segments.enumerated() {
            guard isEmpty(index) else {
                left.append(segment)
                continue
            }
            // It may be there again after a power cut; that its messages have left stays recorded.
            if !isErasing {
                unlink(name(segment.first))
            } else if (try? PlainFile.erase(name(segment.first), of: path)) == nil {
                left.append(segment)
            }
        }
        segments = left
        if segments[0].first > 1 { state.removed.insert(1...segments[0].first - 1) }
    }

    /// The oldest that may hold what has left; the one with the most gaps if there are too many.
    private var nextToRewrite: Int? {
        let touched = segments.indices.dropLast().filter { segments[$0].isTouched }
        guard state.removed.ranges.count > Self.rangeLimit else { return touched.first }
        return touched.max { count($0) < count($1) }
    }

    private func count(_ index: Int) -> Int { state.removed.count(inside: segments[index].first...last(of: index)) }

    /// Writes a segment anew without what has left, or cannot be read.
    ///
    /// - Returns: how many messages it has now.
    @discardableResult
    func rewrite(_ index: Int, isDamaged: Bool = false) throws(StorageError) -> Int {
        let (first, last) = (segments[index].first, last(of: index))
        let draft = try SegmentDraft(self)
        let scan = SegmentScan(self, after: first - 1, through: last)
        scan.passesDamage = isDamaged
        var count = 0
        while let message = try scan.next() {
            try draft.append(message, scan.payload(of: message))
            count += 1
        }
        draft.skip(to: last + 1)
        try draft.finish(as: first)
        segments[index].bytes = draft.bytes
        segments[index].isTouched = false
        if index == segments.count - 1 { try reopen() }
        try PlainFile.syncNames(beside: path)
        // The file itself says now that they have no message.
        if first <= last { state.removed.forget(inside: first...last) }
        if count == 0, index < segments.count - 1 {
            // Removed after the next transaction, which says so.
            state.removed.insert(first...last)
            tidiesNext()
        }
        return count
    }

    /// Begins a new segment, and overwrites and removes all others.
    func erase() throws(StorageError) {
        isErasing = true
        try rotate()
        killPoint("outbox-erasure-begun")
        while segments.count > 1 {
            try PlainFile.erase(name(segments[0].first), of: path)
            segments.removeFirst()
        }
        isErasing = false
        removeEmptySegments()
    }
}

/// A segment that is being written under another name.
final class SegmentDraft {
    let file: PlainFile
    private(set) var bytes = 0
    private let log: SegmentLog
    private let path: String
    private var frame = OutboxFrameWriter()

    init(_ log: SegmentLog) throws(StorageError) {
        self.log = log
        path = "\(log.path)-new"
        file = try PlainFile(path, creating: true, of: log.path)
        frame.append(log.state)
    }

    /// If it was not finished, it is not needed; else it has another name.
    deinit { unlink(path) }

    func append(_ message: StoredMessage, _ payload: [UInt8]) throws(StorageError) {
        payload.withUnsafeBytes {
            frame.append(
                message.id, at: message.acceptedAt, flags: message.flags, topic: message.topic.name, payload: $0)
        }
        if frame.isFull { try flush() }
    }

    /// - Parameter id: the number of the first message of the next segment.
    func skip(to id: Int64) { frame.skip(to: id) }

    /// Puts it in place of the segment of this name, if there is one. That is durable with
    /// ``PlainFile/syncNames(beside:)``.
    func finish(as first: Int64) throws(StorageError) {
        try flush()
        try file.sync()
        killPoint("outbox-segment-drafted")
        try PlainFile.rename(path, to: log.name(first), of: log.path)
        killPoint("outbox-segment-named")
        log.forgetScans()
    }

    private func flush() throws(StorageError) {
        log.number += 1
        frame.seal(mark: log.mark, start: bytes, number: log.number, isLast: true)
        try file.write(frame.bytes, at: bytes)
        bytes += frame.bytes.count
        frame.clear()
    }
}
