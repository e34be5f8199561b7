import Storage

/// Goes through the messages of a log that have not left, in their order. It can go on after more were added.
final class SegmentScan {
    private unowned let log: SegmentLog
    /// All messages up to this one were passed.
    private var passed: Int64
    /// The message that was returned last.
    private var returned: Int64
    /// The segment that is read: its first number, and the last that its messages may have.
    private var first: Int64 = 0
    private var last: Int64 = 0
    private var reader: SegmentReader?
    private var limit = 0
    /// Where the next frame begins, and the least number that its first message can have.
    private var offset = 0
    private var expected: Int64 = 0
    private var bytes = UnsafeRawBufferPointer(start: nil, count: 0)
    private var records: OutboxRecords?

    /// The segment that has this message is the last one that is read.
    private let end: Int64

    /// Whether what is damaged is passed over.
    var passesDamage = false
    /// Whether what the segments say of the outbox's state is taken over.
    var collectsState = false

    init(_ log: SegmentLog, after id: Int64, through end: Int64 = .max) {
        self.log = log
        self.end = end
        (passed, returned) = (id, id)
    }

    func canGoOn(after id: Int64) -> Bool {
        // What is in another segment is found sooner from its beginning.
        guard reader != nil, id >= returned, id <= max(passed, last) else { return false }
        passed = max(passed, id)
        return true
    }

    /// The payload of the message that was returned last.
    func payload(of message: StoredMessage) -> [UInt8] { Array(bytes[message.payload]) }

    /// - Throws: ``StorageError/damaged(path:detail:)`` if messages that have not left are not there.
    func next() throws(StorageError) -> StoredMessage? {
        while true {
            while let record = records?.next() {
                if collectsState { log.state.apply(record) }
                switch record {
                case .message(let message):
                    // A transaction that failed, on a disk that could not be cut back either.
                    guard message.id <= last else { continue }
                    guard message.id >= expected else {
                        if passesDamage { continue }
                        throw damage
                    }
                    pass(to: message.id)
                    expected = message.id + 1
                    guard message.id > passed else { continue }
                    passed = message.id
                    guard !log.state.removed.contains(message.id) else { continue }
                    returned = message.id
                    return message
                case .position(let id) where id <= last: pass(to: id)
                case .position where last != .max: pass(to: last + 1)
                default: continue
                }
            }
            guard records?.isMalformed != true || passesDamage else { throw damage }
            records = nil
            guard try nextFrame() else { return nil }
        }
    }

    /// The numbers before `id` have no message. Known as removed, they do not part those that have left.
    private func pass(to id: Int64) {
        guard id > expected else { return }
        log.state.removed.insert(expected...id - 1)
        expected = id
    }

    private func nextFrame() throws(StorageError) -> Bool {
        guard let reader else { return try open(log.index(of: passed + 1)) }
        let index = log.index(of: first)
        guard log.segments[index].first == first else {
            // All its messages have left meanwhile.
            return try open(log.index(of: passed + 1))
        }
        let isNewest = last == .max
        // While it is repaired, all of its file is looked at.
        if isNewest, !passesDamage { limit = log.tail }
        if let (frame, records) = try reader.frame(at: offset, limit: limit) {
            offset += OutboxFrame.headerBytes + frame.length
            if passesDamage { log.number = max(log.number, frame.number) }
            // What was begun and has no end was not accepted.
            if passesDamage, frame.number == log.unfinished { return true }
            bytes = records
            self.records = OutboxRecords(records)
            return true
        }
        if passesDamage {
            if let next = try reader.candidate(after: offset, limit: limit) {
                offset = next
                return true
            }
            if isNewest { return false }
        } else if isNewest {
            guard offset == limit else { throw damage }
            return false
        } else if expected <= last, !log.state.removed.covers(expected...last) {
            // All numbers up to the next segment have to be there, or to have left.
            throw damage
        }
        passed = max(passed, last)
        if last >= end { return false }
        return try open(index + 1)
    }

    private func open(_ index: Int) throws(StorageError) -> Bool {
        first = log.segments[index].first
        last = index + 1 < log.segments.count ? log.segments[index + 1].first - 1 : .max
        (expected, offset, records) = (first, 0, nil)
        let reader = try SegmentReader(log.name(first), mark: log.mark, of: log.path)
        limit = try reader.size()
        self.reader = reader
        return true
    }

    private var damage: StorageError {
        .damaged(path: log.path, detail: "messages after number \(expected - 1) are missing")
    }
}

extension SegmentLog {
    /// The segment that has a message, or would have it; for numbers before the first segment, that one.
    func index(of id: Int64) -> Int {
        var (low, high) = (0, segments.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if segments[middle].first <= id { low = middle } else { high = middle }
        }
        return low
    }
}
