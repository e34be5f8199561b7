/// What a frame consists of. Numbers are written seven bits a byte, the lowest first.
enum OutboxRecord {
    case message(StoredMessage)
    /// The number of the next message. Those before it that are not in the segment have left.
    case position(Int64)
    /// These messages have left.
    case removal(ClosedRange<Int64>)
    case ledger(OutboxLedger)
    case deadLetter(Int64)
    case noDeadLetter(Int64)
    /// The device identifier that the messages belong to.
    case owner(String)
    /// What was recorded before, in other segments, does not count: what follows is all. Has the format's version.
    case beginning

    /// The version of what is recorded in segments.
    static let version: Int64 = 1

    fileprivate enum Kind: UInt8 {
        case message = 1
        case position, removal, ledger, deadLetter, noDeadLetter, owner, beginning
    }
}

/// A message in a frame.
struct StoredMessage {
    var id: Int64
    /// Milliseconds since 1970, as ``MessageStamp`` stores them.
    var acceptedAt: Int64
    /// As ``OutgoingMessage/flags``.
    var flags: Int64
    var topic: Topic
    /// Where its payload is in the frame's records.
    var payload: Range<Int>

    var size: Int { payload.count + topic.name.utf8.count + OutboxPolicy.rowOverhead }
    var isTelemetry: Bool { flags & 8 == 0 }
    var stamp: MessageStamp { MessageStamp(storedMilliseconds: acceptedAt) }
}

/// Reads the records of a frame one after another.
struct OutboxRecords {
    private let bytes: UnsafeRawBufferPointer
    private var offset = 0
    /// The number of the next message.
    private var position: Int64 = 0
    private var time: Int64 = 0
    private var topics: [Topic] = []
    /// Whether something in it is not a record. What comes before it was read.
    private(set) var isMalformed = false

    /// - Parameter bytes: a frame's records; they stay where they are as long as this is used.
    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// - Returns: `nil` at the end, or where something is not a record.
    @inline(never)
    mutating func next() -> OutboxRecord? {
        while offset < bytes.count, !isMalformed {
            let kind = OutboxRecord.Kind(rawValue: bytes[offset])
            offset += 1
            switch kind {
            case .message: return message()
            case .position:
                position = count()
                return isMalformed ? nil : .position(position)
            case .removal:
                let (first, length) = (count(), count())
                guard length > 0 else { return malformed() }
                return isMalformed ? nil : .removal(first...first + length - 1)
            case .ledger:
                let ledger = ledger()
                return isMalformed ? nil : .ledger(ledger)
            case .deadLetter:
                let id = count()
                return isMalformed ? nil : .deadLetter(id)
            case .noDeadLetter:
                let id = count()
                return isMalformed ? nil : .noDeadLetter(id)
            case .owner:
                guard let owner = text() else { return nil }
                return .owner(owner)
            case .beginning:
                guard count() == OutboxRecord.version else { return malformed() }
                return .beginning
            case nil: return malformed()
            }
        }
        return nil
    }

    private mutating func message() -> OutboxRecord? {
        let (flags, since, topic) = (count(), count(), count())
        if topic == topics.count, let name = text() {
            guard let new = try? Topic(name) else { return malformed() }
            topics.append(new)
        }
        let length = count()
        guard !isMalformed, topic < topics.count, length <= bytes.count - offset else {
            return malformed()
        }
        // The lowest bit says that the clock went back.
        time &+= since & 1 == 0 ? since >> 1 : -(since >> 1)
        defer {
            offset += Int(length)
            position += 1
        }
        return .message(
            StoredMessage(
                id: position, acceptedAt: time, flags: flags, topic: topics[Int(topic)],
                payload: offset..<offset + Int(length)))
    }

    private mutating func ledger() -> OutboxLedger {
        var ledger = OutboxLedger()
        (ledger.accepted, ledger.acceptedBytes, ledger.removed, ledger.removedBytes) = (
            count(), count(), count(), count()
        )
        // The lowest bit says that it is below zero.
        let refused = count()
        ledger.refused = refused & 1 == 0 ? refused >> 1 : -(refused >> 1)
        (ledger.dead, ledger.retried) = (count(), count())
        for reason in OutboxEvent.DropReason.allCases { ledger.count(Int(count()), droppedAs: reason) }
        return ledger
    }

    private mutating func text() -> String? {
        let length = count()
        guard !isMalformed, length <= min(bytes.count - offset, Topic.limit) else {
            _ = malformed()
            return nil
        }
        defer { offset += Int(length) }
        return String(decoding: bytes[offset..<offset + Int(length)], as: UTF8.self)
    }

    /// A number from 0 to 2⁵⁶ − 1, so that sums of them are numbers too.
    private mutating func count() -> Int64 {
        var value: Int64 = 0
        for shift in stride(from: 0 as Int64, to: 56, by: 7) {
            guard offset < bytes.count else { break }
            let byte = bytes[offset]
            offset += 1
            value |= Int64(byte & 0x7f) << shift
            if byte < 0x80 { return value }
        }
        isMalformed = true
        return 0
    }

    private mutating func malformed() -> OutboxRecord? {
        isMalformed = true
        return nil
    }
}

/// A frame that is being written.
struct OutboxFrameWriter {
    /// From this many bytes on, what follows goes into another frame: a damaged page takes few messages with it.
    static let target = 4096

    private(set) var bytes: [UInt8] = []
    private var topics: [String: Int64] = [:]
    private var latest: (name: String, index: Int64)?
    private var time: Int64 = 0
    /// The number of the next message; `nil` if there is none in this frame.
    private var position: Int64?

    init() { clear() }

    var isEmpty: Bool { bytes.count == OutboxFrame.headerBytes }
    var isFull: Bool { bytes.count >= Self.target }

    mutating func clear() {
        // A large one is not kept.
        if bytes.capacity > 16 * Self.target { bytes = [] }
        bytes.removeAll(keepingCapacity: true)
        bytes.append(contentsOf: repeatElement(0, count: OutboxFrame.headerBytes))
        topics.removeAll(keepingCapacity: topics.count < 64)
        (latest, time, position) = (nil, 0, nil)
    }

    mutating func seal(mark: UInt64, start: Int, number: UInt64, isLast: Bool) {
        OutboxFrame.seal(&bytes, mark: mark, start: start, number: number, isLast: isLast)
    }

    mutating func append(
        _ id: Int64, at acceptedAt: Int64, flags: Int64, topic: String, payload: UnsafeRawBufferPointer
    ) {
        if position != id { skip(to: id) }
        put(.message)
        put(flags)
        let since = acceptedAt &- time
        put(Int64(bitPattern: since.magnitude) << 1 & .max | (since < 0 ? 1 : 0))
        time = acceptedAt
        if let latest, latest.name == topic {
            put(latest.index)
        } else {
            let known = topics[topic]
            let index = known ?? Int64(topics.count)
            put(index)
            if known == nil {
                topics[topic] = index
                put(text: topic)
            }
            latest = (topic, index)
        }
        put(Int64(payload.count))
        bytes.append(contentsOf: payload)
        position = id + 1
    }

    /// Says that the next message has this number.
    mutating func skip(to id: Int64) {
        put(.position)
        put(id)
        position = id
    }

    mutating func append(removal ids: ClosedRange<Int64>) {
        put(.removal)
        put(ids.lowerBound)
        put(ids.upperBound - ids.lowerBound + 1)
    }

    mutating func append(_ ledger: OutboxLedger) {
        put(.ledger)
        put(ledger.accepted)
        put(ledger.acceptedBytes)
        put(ledger.removed)
        put(ledger.removedBytes)
        put(Int64(ledger.refused.magnitude) << 1 | (ledger.refused < 0 ? 1 : 0))
        put(ledger.dead)
        put(ledger.retried)
        for reason in OutboxEvent.DropReason.allCases {
            put(Int64(ledger.drops[keyPath: OutboxStatus.Drops.sum(of: reason)]))
        }
    }

    mutating func append(deadLetter id: Int64, isThere: Bool) {
        put(isThere ? .deadLetter : .noDeadLetter)
        put(id)
    }

    mutating func append(owner: String) {
        put(.owner)
        put(text: owner)
    }

    /// All that is so far.
    mutating func append(_ state: OutboxState) {
        put(.beginning)
        put(OutboxRecord.version)
        if let owner = state.owner { append(owner: owner) }
        append(state.ledger)
        for range in state.removed.ranges { append(removal: range) }
        for id in state.deadLetters { append(deadLetter: id, isThere: true) }
    }

    private mutating func put(_ kind: OutboxRecord.Kind) { bytes.append(kind.rawValue) }

    private mutating func put(text: String) {
        put(Int64(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    private mutating func put(_ count: Int64) {
        var rest = UInt64(max(0, count))
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }
}
