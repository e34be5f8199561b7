import Groundwork
import Storage

/// The messages of an outbox in files that are only written at their end.
///
/// A segment is named after the outbox's file and the number of its first message. Its first frame has the outbox's
/// whole state (``OutboxState``), so that only the newest is read at a start. Messages that leave are recorded in the
/// newest one; a segment is removed when all of its messages have left, and rewritten without those that have left
/// when the files take more than twice the room of what waits, and four segments.
///
/// What changes between ``begin()`` and ``commit()`` is durable when that returns.
final class SegmentLog {
    struct Segment {
        /// The number of its first message.
        let first: Int64
        var bytes: Int
        /// Whether messages have left since it was last rewritten.
        var isTouched = true
    }

    /// The most gaps between messages that have left, before segments are rewritten without them.
    static let rangeLimit = 4096
    /// Room kept for the records of removals on a disk that is full.
    static let reserve = 1 << 16

    let path: String
    let mark: UInt64
    /// A segment that has so many bytes is not continued.
    let segmentBytes: Int
    /// Ascending; the last one is written to.
    var segments: [Segment] = []
    var state = OutboxState()
    /// The latest transaction's number.
    var number: UInt64 = 0
    /// That of the latest one that is known to be on the disk in the newest segment.
    var durableNumber: UInt64 = 0
    /// As given to ``open(synced:checkedBytes:)``.
    var synced: UInt64 = 0
    /// While a segment is repaired: a transaction in it that has no end.
    var unfinished: UInt64?

    var file: PlainFile?
    /// How much of the newest segment is written; ``Segment/bytes`` of it is on the disk.
    var tail = 0
    var reserved = 0
    /// Up to where the newest segment's file is known to be written, with zeros from ``tail`` on. Nothing but the cost
    /// of the next transactions depends on it.
    var prepared = 0
    /// Whether the latest transaction was small.
    var wasSmall = false
    private var frame = OutboxFrameWriter()
    private var isWriting = false
    /// Whether the transaction has a number: something of it was written.
    private var isNumbered = false
    /// The state before the transaction.
    private var before = OutboxState()
    /// The disk has failed to sync: what the newest segment ends with, or whether it has its name, is not known, and
    /// nothing is written to it.
    var isDoubtful = false
    /// Whether segments are overwritten before they are removed.
    var isErasing = false
    /// Whether the newest segment was found undamaged when it was opened.
    var isNewestWhole = true
    private var hasRemoved = false
    private var scans: [SegmentScan?] = [nil, nil]

    init(path: String, mark: UInt64, segmentBytes: Int) {
        self.path = path
        self.mark = mark
        self.segmentBytes = segmentBytes
    }

    func name(_ first: Int64) -> String {
        let digits = String(first, radix: 16)
        return "\(path)-\(String(repeating: "0", count: 16 - digits.utf8.count))\(digits)"
    }

    /// The last number that a segment's messages may have.
    func last(of index: Int) -> Int64 {
        index + 1 < segments.count ? segments[index + 1].first - 1 : state.newest
    }

    // MARK: Transactions

    /// Before the first change of a transaction.
    func begin() throws(StorageError) {
        if isDoubtful {
            try rotate()
        } else if segments[segments.count - 1].bytes >= segmentBytes {
            do throws(StorageError) {
                try rotate()
            } catch {
                // A full disk may still have room for removals. But what the old segment gets is not read once the new
                // one has its name.
                if isDoubtful { throw error }
            }
        }
        before = state
        (isWriting, isNumbered) = (true, false)
    }

    /// Makes the changes of a transaction durable. If it fails, there are none.
    func commit() throws(StorageError) {
        defer { isWriting = false }
        guard !frame.isEmpty || tail > segments[segments.count - 1].bytes else { return }
        if hasRemoved { recordEmptySegments() }
        do throws(StorageError) {
            try write()
        } catch {
            rollBack()
            throw error
        }
        let tidies = hasRemoved
        hasRemoved = false
        if tidies { tidy() }
    }

    func rollBack() {
        state = before
        frame.clear()
        (isWriting, hasRemoved, isErasing) = (false, false, false)
        if tail > segments[segments.count - 1].bytes {
            tail = segments[segments.count - 1].bytes
            // What stays behind it is overwritten, or has a number that has passed.
            cut()
        }
        forgetScans()
    }

    private func write() throws(StorageError) {
        try flush(isLast: true)
        prepare()
        killPoint("outbox-group-written")
        do {
            try file?.sync()
        } catch {
            isDoubtful = true
            throw error
        }
        segments[segments.count - 1].bytes = tail
        durableNumber = number
    }

    /// Writes the frame that has been begun.
    private func flush(isLast: Bool) throws(StorageError) {
        let newest = segments.count - 1
        if !isNumbered { number += 1 }
        isNumbered = true
        frame.seal(mark: mark, start: segments[newest].bytes, number: number, isLast: isLast)
        let end = tail + frame.bytes.count
        try file?.write(frame.bytes, at: tail)
        tail = end
        frame.clear()
    }

    /// Before something is read that this transaction has added.
    private func flushForReading() throws(StorageError) {
        if isWriting, !frame.isEmpty { try flush(isLast: false) }
    }

    // MARK: Changes, each part of a transaction

    func append(_ message: QueuedMessage) throws(StorageError) {
        let (flags, topic) = (message.message.flags, message.message.topic)
        message.message.payload.withUnsafeBytes {
            frame.append(
                message.id, at: message.stamp.storedMilliseconds, flags: flags, topic: topic.name, payload: $0)
        }
        state.add(message.id, bytes: message.size)
        // Room is kept before the message is accepted: it can be removed on a disk that is full by then.
        let end = tail + frame.bytes.count + Self.reserve
        if end > reserved {
            let more = max(end, segmentBytes) + Self.reserve
            reserved = try file?.reserve(more) == true ? more : .max
        }
        if frame.isFull { try flush(isLast: false) }
    }

    func remove(_ ids: ClosedRange<Int64>) {
        state.removed.insert(ids)
        frame.append(removal: ids)
        tidiesNext()
        for index in segments.indices.reversed() where segments[index].first <= ids.upperBound {
            segments[index].isTouched = true
            if segments[index].first <= ids.lowerBound { break }
        }
    }

    /// The next transaction is followed by ``tidy()``.
    func tidiesNext() { hasRemoved = true }

    /// Says of segments whose messages have all left that it is so: some of their numbers may be known from them alone.
    private func recordEmptySegments() {
        for index in segments.indices where isEmpty(index) {
            frame.append(removal: segments[index].first...last(of: index))
        }
    }

    func save(_ ledger: OutboxLedger) {
        state.ledger = ledger
        frame.append(ledger)
    }

    func change(deadLetter id: Int64, isThere: Bool) {
        state.apply(isThere ? .deadLetter(id) : .noDeadLetter(id))
        frame.append(deadLetter: id, isThere: isThere)
    }

    func save(owner: String) {
        state.owner = owner
        frame.append(owner: owner)
    }

    // MARK: Reading

    /// Reads from what was read last for the same purpose, or from the segment's beginning.
    func scan(_ purpose: Int, after id: Int64) throws(StorageError) -> SegmentScan {
        try flushForReading()
        if let scan = scans[purpose], scan.canGoOn(after: id) { return scan }
        let scan = SegmentScan(self, after: id)
        scans[purpose] = scan
        return scan
    }

    func forgetScans() { scans = [nil, nil] }

    // MARK: Files

    /// Begins a new segment.
    func rotate() throws(StorageError) {
        let first = state.newest + 1
        let draft = try SegmentDraft(self)
        let room = try draft.file.reserve(segmentBytes + Self.reserve)
        try draft.finish(as: first)
        // Room that was kept behind its end is given back.
        try? file?.truncate(to: tail)
        (file, tail, prepared) = (draft.file, draft.bytes, draft.bytes)
        reserved = room ? segmentBytes + Self.reserve : .max
        if segments.last?.first == first { segments.removeLast() }
        segments.append(Segment(first: first, bytes: tail))
        // The next start may find it or not: until that is known, nothing counts in either.
        isDoubtful = true
        try PlainFile.syncNames(beside: path)
        isDoubtful = false
        durableNumber = number
        killPoint("outbox-segment-begun")
    }

    /// Cuts the newest segment off at its end. That gives away the room behind it, which is taken again at once.
    func cut() {
        try? file?.truncate(to: tail)
        (reserved, prepared) = (0, tail)
        keepRoom()
    }

    /// Keeps room for removals behind the newest segment, where there is some.
    func keepRoom() {
        let end = tail + Self.reserve
        guard end > reserved, let isKept = try? file?.reserve(end) else { return }
        reserved = isKept ? end : .max
    }
}
